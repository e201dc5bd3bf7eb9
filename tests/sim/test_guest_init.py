"""What a guest's first program does until systemd takes over."""

from __future__ import annotations

import http.server
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs import required

INIT = Path(__file__).parents[2] / "sim/image/initramfs/init"
BUSY_TRIES = 7
"""More than a host tries that nobody told to wait."""


class Provisioner(http.server.BaseHTTPRequestHandler):
    """Sends enough files already, then has time; a file of another name it does not have."""

    asked = 0

    def do_GET(self) -> None:
        """Answer one request."""
        type(self).asked += 1
        known, busy = self.path == "/rootfs", type(self).asked <= BUSY_TRIES
        self.send_response(404 if not known else 503 if busy else 200)
        self.end_headers()
        if known and not busy:
            self.wfile.write(b"root")

    def log_message(self, *_words: object) -> None:
        """Keep quiet."""


@pytest.fixture
def provisioner() -> Iterator[str]:
    """Return the URL of a provisioner that has just begun to be busy."""
    Provisioner.asked = 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provisioner)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def fetch(url: str, target: Path) -> int:
    """Run the guest's own function, with waits that take no time."""
    [function] = re.findall(r"^fetch\(\) \{\n.*?^\}\n", INIT.read_text(), flags=re.MULTILINE | re.DOTALL)
    shell = required("busybox", os.environ["PATH"])
    script = f'wget() {{ "{shell}" wget "$@"; }}\nsleep() {{ :; }}\n{function}fetch "$1" "$2"\n'
    return subprocess.run([shell, "sh", "-c", script, "init", url, target], timeout=60, check=False).returncode


def test_a_guest_waits_for_a_provisioner_that_is_busy(provisioner: str, tmp_path: Path) -> None:
    """503 says that others are served first: it comes back until it gets its file."""
    assert fetch(f"{provisioner}/rootfs", tmp_path / "rootfs") == 0
    assert (tmp_path / "rootfs").read_text() == "root"
    assert Provisioner.asked == BUSY_TRIES + 1


def test_a_guest_gives_up_soon_on_a_file_that_is_not_there(provisioner: str, tmp_path: Path) -> None:
    """Waiting would not help: the console says so after a few tries."""
    assert fetch(f"{provisioner}/other", tmp_path / "rootfs") != 0
    assert Provisioner.asked == 5
