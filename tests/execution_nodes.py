"""Execution nodes for tests: sshd of this machine, one a node, at ports of their own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MEMORY = Path(f"/dev/shm/coldaisle-{os.getuid()}")  # noqa: S108 - where nodes keep their runs


def make_key(file: Path) -> str:
    """Make an Ed25519 key and return its public half, type and text."""
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)]
    subprocess.run(words, check=True)
    return " ".join(file.with_suffix(".pub").read_text().split()[:2])


@dataclass
class Node:
    """An execution node: its server's own files lie in `folder`; `inside` are words that start it elsewhere."""

    name: str
    folder: Path
    key: Path
    address: str = "127.0.0.1"
    inside: Callable[..., list[str]] = lambda *words: list(words)
    port: int = 0
    host_key: str = ""
    _server: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self) -> Node:
        """Start the server, and wait until it listens."""
        if not self.host_key:
            self.folder.mkdir()
            self.host_key = make_key(self.folder / "host_key")
            self.port = free_port()
        settings = {
            "Port": self.port,
            "ListenAddress": self.address,
            "HostKey": self.folder / "host_key",
            "AuthorizedKeysFile": self.key.with_suffix(".pub"),
            "StrictModes": "no",
            "UsePAM": "no",
            "PidFile": "none",
            "PermitRootLogin": "yes",
        }
        Path("/run/sshd").mkdir(exist_ok=True)
        config = self.folder / "sshd_config"
        config.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
        server = shutil.which("sshd", path=f"/usr/sbin:{os.environ['PATH']}") or "sshd"
        before = self.log().count("listening")
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(self.inside(server, "-D", "-e", "-f", str(config)), stderr=log)
        until(lambda: self.log().count("listening") > before)
        return self

    def log(self) -> str:
        """Return what the server has said."""
        file = self.folder / "log"
        return file.read_text() if file.exists() else ""

    def stop(self) -> None:
        """End the server, and every connection that it has."""
        if self._server is not None:
            for pid in [*below(self._server.pid), self._server.pid]:
                if Path(f"/proc/{pid}/comm").exists() and "sshd" in Path(f"/proc/{pid}/comm").read_text():
                    os.kill(pid, signal.SIGKILL)
            self._server.wait()

    def record(self, **changes: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the node as the inventory has it."""
        return {
            "name": self.name,
            "address": self.address,
            "port": self.port,
            "user": pwd.getpwuid(os.getuid()).pw_name,
            "host_key": self.host_key,
            "key_file": str(self.key),
            "python": sys.executable,
        } | changes

    def spec(self, *halls: str) -> dict[str, Any]:
        """Return the node as a site's spec has it."""
        return {name: value for name, value in self.record().items() if name != "name"} | {
            "name": self.name,
            "halls": list(halls),
        }

    def workers(self) -> list[int]:
        """Return the processes of ansible-runner's worker that this node's server has started."""
        return [pid for pid in below(self._server.pid) if _is_worker(pid)] if self._server else []


def _is_worker(pid: int) -> bool:
    try:
        return b"ansible_runner\0worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def below(pid: int) -> list[int]:
    """Return every process below one."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in path.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *below(child)]
    return found


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def left() -> list[str]:
    """Return the folders of runs on execution nodes of this machine."""
    return sorted(path.name for path in MEMORY.iterdir()) if MEMORY.exists() else []


def until(true: Callable[[], object], limit_s: float = 60) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
