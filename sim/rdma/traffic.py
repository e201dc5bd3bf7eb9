"""Traffic between two guests by the usual programs: pings of full size, rping, ib_write_bw and ib_send_bw."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass

from coldaisle.acceptance.parsers.perftest import transferred
from coldaisle.acceptance.records import CannotTellError
from sim.rdma.frames import Frame
from sim.rdma.guests import Guest
from sim.rdma.planned import Endpoint
from sim.rdma.watch import Watch

PINGS = 6
"""Flows in each direction, told apart by the identifier of the ping, by which a bond chooses their cable."""

HEADERS = 28
"""Bytes that IPv4 and ICMP take of a packet (RFC 791, RFC 792)."""

MESSAGE_BYTES = 65_536
MESSAGES = 64
QUEUE_PAIRS = 4
"""Each is a flow of its own, so that traffic can take both cables."""

SLOW = "-t 8 -u 20"
"""
For emulated hosts: few messages are under way at once, and an acknowledgement may take 4.3 s (4.096 us x 2^20, IBTA)
before all is sent again; with the programs' own 67 ms everything was, ten times over (measured).
"""

RPING_BYTES, RPINGS = 4096, 10
READY_S = 30
LIMIT_S = 120
LISTENS = "rdma resource show cm_id | grep -q LISTEN"
"""A program that waits for a connection by rdma_cm is seen there; one that waits by TCP in `ss`."""

GBPS_A_MIB_S = 8 * 2**20 / 1e9
"""Gigabits a second that a mebibyte a second is."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """
    One program's traffic: what it said, and what was on the cables meanwhile.

    `error` is the last line of what failed, None where both ends ended well. `moved_bytes` is by the program's word.
    """

    name: str
    error: str | None
    moved_bytes: int
    mib_s: float | None
    frames: tuple[Frame, ...]
    dropped: int


@dataclass(frozen=True, slots=True)
class Side:
    """One end: the guest, what is planned of it, its RDMA device, and the index of the planned address there."""

    guest: Guest
    end: Endpoint
    device: str
    gid: int | None


def pings(sender: Side, receiver: Side) -> int:
    """Return how many of the pings of full size, which may not be cut, were answered."""
    size = min(sender.end.mtu_bytes, receiver.end.mtu_bytes) - HEADERS
    one = f"ping -n -q -c 1 -W 2 -M do -s {size} -I {sender.end.address} -e $id {receiver.end.address}"
    script = f"for id in $(seq 1 {PINGS}); do {one} >/dev/null 2>&1 && echo answered; done"
    return sender.guest.ask(script, timeout_s=LIMIT_S).stdout.count("answered")


def rping(server: Side, client: Side, watch: Watch) -> Transfer:
    """Read and write with checked contents over a connection of rdma_cm, marked by the host's own setting."""
    common = f"-C {RPINGS} -S {RPING_BYTES} -V"
    return _transfer(
        "rping",
        (server, f"rping -s -a {server.end.address} {common}", LISTENS),
        (client, f"rping -c -a {server.end.address} -I {client.end.address} {common}"),
        watch,
    )


def write_by_cm(server: Side, client: Side, watch: Watch) -> Transfer:
    """RDMA WRITE over connections of rdma_cm: nobody names a class, so that the host's own setting marks them."""
    common = f"-R -s {MESSAGE_BYTES} -n {MESSAGES} -q {QUEUE_PAIRS} {SLOW} -F"
    return _transfer(
        "ib_write_bw",
        (server, f"ib_write_bw -d {server.device} {common}", LISTENS),
        (client, f"ib_write_bw -d {client.device} {common} {server.end.address}"),
        watch,
    )


def send_by_index(server: Side, client: Side, watch: Watch) -> Transfer:
    """SEND with the index of the GID and the planned class given, as collective libraries do."""
    common = f"-s {MESSAGE_BYTES} -n {MESSAGES} -q {QUEUE_PAIRS} {SLOW} -F --tclass={client.end.traffic_class}"
    return _transfer(
        "ib_send_bw",
        (server, f"ib_send_bw -d {server.device} -x {server.gid} {common}", "ss -Hltn | grep -q :18515"),
        (client, f"ib_send_bw -d {client.device} -x {client.gid} {common} {server.end.address}"),
        watch,
    )


def _transfer(name: str, server: tuple[Side, str, str], client: tuple[Side, str], watch: Watch) -> Transfer:
    """Start the server, wait until it listens, and run the client to its end while the cables are watched."""
    (there, serve, listens), (here, call) = server, client
    with watch:
        running = there.guest.begin(f"timeout {LIMIT_S} {serve} 2>&1")
        error = _wait(there.guest, running, listens)
        done = here.guest.ask(f"timeout {LIMIT_S} {call} 2>&1", timeout_s=LIMIT_S + 10) if error is None else None
        if done is not None and done.returncode != 0:
            error = f"{here.guest.name}: {_last(done.stdout + done.stderr)}"
        error = error or _end(there.guest, running)
        running.kill()
    moved, rate = figures(done.stdout) if done else (0, None)
    return Transfer(name, error, moved, rate, tuple(watch.frames), watch.dropped)


def _wait(guest: Guest, running: subprocess.Popen[str], listens: str) -> str | None:
    """Return None when the server listens, else why it does not."""
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        if running.poll() is not None:
            return f"{guest.name}: {_last(running.stdout.read() if running.stdout else '')}"
        if guest.ask(listens).returncode == 0:
            return None
    return f"{guest.name}: it did not listen within {READY_S} s"


def _end(guest: Guest, running: subprocess.Popen[str]) -> str | None:
    """Return None when the server ended well; one that has a client ends by itself."""
    try:
        said, _ = running.communicate(timeout=READY_S)
    except subprocess.TimeoutExpired:
        return f"{guest.name}: the server did not end"
    return None if running.returncode == 0 else f"{guest.name}: {_last(said)}"


def figures(text: str) -> tuple[int, float | None]:
    """Return the bytes that ib_*_bw moved over all its queue pairs, and its mean rate in MiB/s."""
    try:
        found = transferred(text)
    except CannotTellError:
        return 0, None
    return found.message_bytes * found.messages, found.average_gbps / GBPS_A_MIB_S


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip().strip("-")]
    return lines[-1] if lines else "it said nothing"
