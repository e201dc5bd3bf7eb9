"""One host in namespaces of its own, on which the roles' programs run as Ansible runs them, without SSH between."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible_collections.coldaisle.site.plugins.plugin_utils.packing import ARGUMENTS, script

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
START_TIMEOUT_S = 120
APT_SOURCES = "deb [trusted=yes] file:/srv/packages ./\n"
Json = dict[str, Any]


class Host:
    """A host that runs; `switch` is the process whose network namespace its rails end in."""

    def __init__(self, pid: int, switch: int) -> None:
        """Keep the processes."""
        self.pid, self.switch = pid, switch

    def command(self, *words: str) -> list[str]:
        """Return the command line that runs a command on the host."""
        return ["nsenter", "-t", str(self.pid), "--mount", "--uts", "--net", "--root", "--wd=/", *words]

    def shell(self, text: str) -> str:
        """Run a line of shell on the host, as a person's hand would, and return what it prints."""
        return _run(self.command("/bin/sh", "-ec", text))

    def give(self, path: str, text: str) -> None:
        """Write a file on the host."""
        _run(self.command("/usr/bin/tee", path), text.encode())

    def at_switch(self, text: str) -> str:
        """Run a line of shell in the switch's network namespace."""
        return _run(["nsenter", "-t", str(self.switch), "-n", "/bin/sh", "-ec", text])

    def program(self, name: str, params: Mapping[str, Any], *, check: bool = False) -> Json:
        """Run one of the collection's programs on the host, as its action does, and return its result."""
        said = _run(self.command("/usr/bin/python3", *ARGUMENTS), script(name, dict(params), check=check))
        found: Json = json.loads(said.strip().splitlines()[-1])
        return found


def _run(command: list[str], given: bytes = b"") -> str:
    environment = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8"}
    done = subprocess.run(command, input=given, env=environment, capture_output=True, check=False, timeout=600)
    said, errors = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == 0, f"{command[-1][:200]}: {said[-500:]}{errors[-1500:]}"
    return said


@contextmanager
def started(files: Path, scratch: Path) -> Iterator[Host]:
    """Start a host with these files over its root, and a switch beside it; both are gone afterwards."""
    switch = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    top = scratch / "top"
    top.mkdir()
    words = ["unshare", "--mount", "--uts", "--net", "--propagation", "private", str(Path(__file__).parent / "host.sh")]
    _wait(lambda: Path(f"/proc/{switch.pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink())
    host = subprocess.Popen([*words, str(top), str(switch.pid), str(files)])
    try:
        _wait(lambda: host.poll() is not None or Path(f"/proc/{host.pid}/root/run/ready").exists())
        assert host.poll() is None, "host.sh has failed"
        found = Host(host.pid, switch.pid)
        _use_own_packages(found)
        yield found
    finally:
        for process in (host, switch):
            process.send_signal(signal.SIGKILL)
            process.wait()


def _use_own_packages(host: Host) -> None:
    """Let apt know the host's own repository alone."""
    host.shell("rm -rf /etc/apt/sources.list.d; mkdir /etc/apt/sources.list.d")
    host.shell(f"printf '%s' '{APT_SOURCES}' > /etc/apt/sources.list")
    host.shell("apt-get -qq -o Acquire::Languages=none update")


def _wait(true: Any) -> None:  # noqa: ANN401  # a question without arguments
    deadline = time.monotonic() + START_TIMEOUT_S
    while not true():
        assert time.monotonic() < deadline, "the host did not start"
        time.sleep(0.05)
