"""
Keeps the processes of the simulated control plane running: starts them in order, restarts them with back-off.

It imports only the standard library and is run as a file, so that it stays small. Children get a signal when the
supervisor dies (PR_SET_PDEATHSIG), so that even `kill -9` of it leaves nothing behind.

Usage: supervisor.py FOLDER, where FOLDER has processes.json (see `Process`); pid files go to FOLDER/run, output to
FOLDER/logs. SIGTERM stops the children in reverse order.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

FIRST_BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 30.0
STEADY_S = 60.0
STOP_S = 8.0
TICK_S = 0.5
SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGCHLD})
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(frozen=True)
class Process:
    """
    A program to keep running.

    `listens` is host:port when it is ready; `ready_path` is asked there by HTTPS, where a port alone says too little;
    `needs` names processes that must be ready first.
    """

    name: str
    argv: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    listens: str | None = None
    ready_path: str | None = None
    needs: list[str] = field(default_factory=list)


class Child:
    """One supervised process: its record, its running instance and its history."""

    def __init__(self, process: Process, folder: Path) -> None:
        """Take the record; nothing is started yet."""
        self.process = process
        self.pid_file = folder / "run" / f"{process.name}.pid"
        self.log_file = folder / "logs" / f"{process.name}.log"
        self.running: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0
        self.not_before = 0.0
        self.restarts = -1

    def start(self) -> None:
        """Start the program and write its pid file."""
        with self.log_file.open("ab") as log:
            self.running = subprocess.Popen(
                self.process.argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.process.environment},
                preexec_fn=partial(be_a_child_of, os.getpid()),  # noqa: PLW1509 - this process has one thread
            )
        self.started_at = time.monotonic()
        self.restarts += 1
        self.pid_file.write_text(f"{self.running.pid}\n")

    def ended(self) -> bool:
        """Say whether the program ran and is gone; then choose when it may start again."""
        if self.running is None or self.running.poll() is None:
            return False
        lived_s = time.monotonic() - self.started_at
        self.not_before = time.monotonic() + backoff_s(self.restarts, lived_s)
        if lived_s > STEADY_S:
            self.restarts = 0
        self.running = None
        self.pid_file.unlink(missing_ok=True)
        return True

    def ready(self) -> bool:
        """Say whether the program runs and, where it listens, whether it answers there."""
        if self.running is None:
            return False
        if self.process.listens is None:
            return True
        return answers(self.process.listens, self.process.ready_path)

    def stop(self) -> None:
        """Ask the program to end, and end it when it does not."""
        if self.running is None:
            return
        self.running.terminate()
        try:
            self.running.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait()
        self.pid_file.unlink(missing_ok=True)


def backoff_s(restarts: int, lived_s: float) -> float:
    """Return how long to wait before a restart, in seconds: doubling from half a second, short again after a minute."""
    if lived_s > STEADY_S:
        return FIRST_BACKOFF_S
    return min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** min(restarts, 10))


def answers(address: str, path: str | None) -> bool:
    """Say whether host:port takes a connection and, with a path, whether an HTTPS request there gives 200."""
    host, _, port = address.rpartition(":")
    with suppress(OSError), socket.create_connection((host, int(port)), timeout=1) as connection:
        if path is None:
            return True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False  # nothing secret is sent, and nothing is believed but "ready"
        context.verify_mode = ssl.CERT_NONE
        with context.wrap_socket(connection) as secure:
            secure.settimeout(2)
            secure.sendall(f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
            return secure.recv(64).split()[1:2] == [b"200"]
    return False


def be_a_child_of(supervisor: int) -> None:
    """
    End with the supervisor, from before the program begins; and take the signals that the supervisor waits for.

    A blocked signal would stay blocked over exec. Who asked for the end only after exec could be too late: a
    supervisor that was killed meanwhile is no longer the parent.
    """
    if LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM) or os.getppid() != supervisor:
        os._exit(1)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def load(folder: Path) -> list[Child]:
    """Return the children that processes.json names, in its order."""
    records = json.loads((folder / "processes.json").read_text())
    return [Child(Process(**record), folder) for record in records]


def start_due(children: list[Child]) -> None:
    """Start each child whose needs are ready and whose back-off is over."""
    by_name = {child.process.name: child for child in children}
    for child in children:
        if child.running is not None or time.monotonic() < child.not_before:
            continue
        if all(by_name[name].ready() for name in child.process.needs):
            child.start()


def supervise(folder: Path) -> None:
    """Run until SIGTERM or SIGINT."""
    (folder / "run").mkdir(parents=True, exist_ok=True)
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    own_pid = folder / "run" / "supervisor.pid"
    own_pid.write_text(f"{os.getpid()}\n")
    children = load(folder)
    while True:
        for child in children:
            if child.ended():
                sys.stderr.write(f"{child.process.name} ended; restart {child.restarts + 1}\n")
        start_due(children)
        all_started = all(child.running is not None for child in children)
        caught = signal.sigtimedwait(SIGNALS, TICK_S * 4 if all_started else TICK_S / 4)
        if caught is not None and caught.si_signo != signal.SIGCHLD:
            break
    for child in reversed(children):
        child.stop()
    own_pid.unlink(missing_ok=True)


if __name__ == "__main__":
    supervise(Path(sys.argv[1]))
