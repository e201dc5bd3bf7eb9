"""
Traffic between hosts, and cables that are cut under it, at one clock.

A socket stays in the namespace that it was made in, so that one program holds both ends of all flows and knows of each
packet whether it arrived.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import selectors
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1
"""Numbers of the kernel: linux/sched.h, linux/sockios.h, linux/if.h."""

PACKET = struct.Struct("!II")
"""A packet: the number of its flow, and its own in the flow."""

PORT = 9
"""The discard port (RFC 863): nothing else listens in a host's namespace."""

PACKETS_PER_S = 3000
FASTEST_S = 0.01
LATE_S = 0.05
"""A packet that has not arrived after this time is lost: a way through a few namespaces takes microseconds."""


@contextmanager
def within(namespace: str) -> Iterator[None]:
    """Be in a network namespace; threads beside this one are not."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        away = os.open(f"/run/netns/{namespace}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(libc, away)
            yield
        finally:
            os.close(away)
            _enter(libc, home)
    finally:
        os.close(home)


def _enter(libc: ctypes.CDLL, namespace: int) -> None:
    if libc.setns(namespace, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "setns")


def set_ports(namespace: str, ports: Iterable[str], *, up: bool) -> None:
    """Turn network ports on or off at once: a command of its own would take as long as what is measured."""
    with within(namespace), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        for port in ports:
            request = struct.pack("16sH14x", port.encode(), 0)
            (flags,) = struct.unpack_from("H", fcntl.ioctl(handle, SIOCGIFFLAGS, request), 16)
            flags = flags | IFF_UP if up else flags & ~IFF_UP
            fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sH14x", port.encode(), flags))


def packets_over(namespace: str, ports: Iterable[str]) -> int:
    """Return how many packets some ports have sent and received."""
    with within(namespace):
        lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
    counts = {name.strip(): line.split() for name, _, line in (each.partition(":") for each in lines[2:])}
    return sum(int(counts[port][1]) + int(counts[port][9]) for port in ports if port in counts)


@dataclass(slots=True)
class Flow:
    """One flow: where it is sent from, the time of each packet, and which of them arrived."""

    sender: socket.socket
    to: tuple[str, int]
    sent_s: list[float] = field(default_factory=list)
    arrived: set[int] = field(default_factory=set)

    def lost_at(self, now: float) -> list[float]:
        """Return when the packets were sent that are lost by now."""
        return [at for number, at in enumerate(self.sent_s) if number not in self.arrived and now - at > LATE_S]


class Traffic:
    """Flows between pairs of addresses, in both directions, each from a port of its own so that they spread."""

    def __init__(self, pairs: Sequence[tuple[tuple[str, str], tuple[str, str]]], each: int) -> None:
        """Open the sockets; a pair is two (namespace, address), and `each` counts flows in one direction."""
        self.flows: list[Flow] = []
        self._selector = selectors.DefaultSelector()
        self._receivers: dict[tuple[str, str], socket.socket] = {}
        ways = [way for one, two in pairs for way in ((one, two), (two, one))]
        self.interval_s = max(FASTEST_S, len(ways) * each / PACKETS_PER_S)
        try:
            for (namespace, address), target in ways:
                self._receive(*target)
                with within(namespace):
                    self.flows += [Flow(_bound(address, 0), (target[1], PORT)) for _ in range(each)]
        except BaseException:
            self.close()
            raise

    def _receive(self, namespace: str, address: str) -> None:
        if (namespace, address) not in self._receivers:
            with within(namespace):
                receiver = _bound(address, PORT)
            self._receivers[namespace, address] = receiver
            self._selector.register(receiver, selectors.EVENT_READ)

    def close(self) -> None:
        """Close all sockets."""
        self._selector.close()
        for each in (*self._receivers.values(), *(flow.sender for flow in self.flows)):
            each.close()

    def sweep(self) -> None:
        """Send a packet of each flow, then receive until it is time for the next ones."""
        started = time.monotonic()
        for number, flow in enumerate(self.flows):
            packet = PACKET.pack(number, len(flow.sent_s))
            flow.sent_s.append(time.monotonic())
            with suppress(OSError):  # without a route nothing leaves, which is a loss like any other
                flow.sender.sendto(packet, flow.to)
        self._collect(0)
        while (left := started + self.interval_s - time.monotonic()) > 0:
            self._collect(left)

    def _collect(self, wait_s: float) -> None:
        for key, _ in self._selector.select(wait_s):
            receiver = key.fileobj
            with suppress(BlockingIOError):
                while isinstance(receiver, socket.socket):
                    flow, number = PACKET.unpack(receiver.recv(PACKET.size))
                    self.flows[flow].arrived.add(number)

    def forget(self) -> None:
        """Begin to count anew."""
        for flow in self.flows:
            flow.sent_s.clear()
            flow.arrived.clear()


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_DGRAM)
    made.setblocking(False)
    made.bind((address, port))
    return made
