"""
One board for tests of what a BMC keeps: its Redfish side in this process, its IPMI side in one of its own.

As a program, `bmc_boards.py PORT FOLDER USER PASSWORD`, it is the IPMI side: pyghmi has one loop for all clients and
servers of a process.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from werkzeug.serving import make_server

from sim.bmc.board import Board
from sim.bmc.ipmi import BoardIpmi
from sim.bmc.redfish import BmcGate, application
from sim.machines import Machine
from sim.state import State


class NoSwitch:
    """A power switch without a machine behind it."""

    def __init__(self) -> None:
        """Begin off."""
        self.on = False

    def is_on(self, _: Machine) -> bool:
        """Return whether it is on."""
        return self.on

    def turn_on(self, _: Machine, **_how: bool) -> None:
        """Turn on."""
        self.on = True

    def turn_off(self, _: Machine) -> None:
        """Turn off."""
        self.on = False


def make_board(folder: Path, user: str, password: str) -> Board:
    """Return a board that keeps its things below a folder, with this account to begin with."""
    state = State("test", folder)
    state.make_folders()
    machine = Machine(
        name="r01-n01", kind="guest", folder=str(folder), namespace="none", firmware="uefi", nics=(), boot_nic="mgmt0",
        layers=(), bmc_address="192.0.2.1",
    )  # fmt: skip
    return Board(machine, state, NoSwitch(), {"username": user, "password": password})  # type: ignore[arg-type]


@contextlib.contextmanager
def redfish_of(board: Board, folder: Path) -> Iterator[str]:
    """Serve the Redfish side of a board on the loopback, and give its address."""
    server = make_server("127.0.0.1", 0, BmcGate(application(folder), board), threaded=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@contextlib.contextmanager
def ipmi_of(folder: Path, user: str, password: str, port: int) -> Iterator[str]:
    """Serve the IPMI side of a board that keeps its things below a folder, and give its address."""
    command = [sys.executable, "-m", "tests.sim.bmc_boards", str(port), str(folder), user, password]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    yield f"127.0.0.1:{port}"
    process.kill()
    process.wait()


def main(port: str, folder: str, user: str, password: str) -> None:
    """Serve the IPMI side until the process is killed."""
    server = BoardIpmi(make_board(Path(folder), user, password), int(port))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    server.listen()


if __name__ == "__main__":
    main(*sys.argv[1:])
