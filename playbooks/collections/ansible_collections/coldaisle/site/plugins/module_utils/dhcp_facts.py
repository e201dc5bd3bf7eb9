"""
The fact of who else answers DHCP on a network: a server that the plan does not have gives nodes its own boot files.

It is asked for as firmware does, since a server that only boots others (proxy DHCP) answers nobody else. The question
leaves by a packet socket: this host's own server does not hear it, and an answer shows whose port it came from.
"""

from __future__ import annotations

import os
import socket
import struct
import time

from ansible_collections.coldaisle.site.plugins.module_utils.host import Fact, FactError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

WAIT_S, ASKED_AT_S = 4.0, (0.0, 1.5)
"""Some servers ping an address for up to 3 s before they offer it (dnsmasq, ISC dhcpd); a question may be lost."""

ETH_P_IP, UDP = 0x0800, 17
SERVER_PORT, CLIENT_PORT = 67, 68
COOKIE = b"\x63\x82\x53\x63"
DISCOVER, OFFER = 1, 2
PAD, MESSAGE_TYPE, SERVER_ID, END = 0, 53, 54, 0xFF
"""Ports, cookie, message types and options of DHCP: RFC 2131 and RFC 2132."""

ASKED = (
    (MESSAGE_TYPE, bytes([DISCOVER])),
    (55, bytes([1, 3, 6, 43, 60, 66, 67])),
    (60, b"PXEClient:Arch:00007:UNDI:003016"),
    (93, b"\x00\x07"),
    (94, b"\x01\x03\x10"),
    (97, bytes(17)),
)
"""What UEFI firmware of x86_64 asks with (RFC 4578): vendor class, architecture, interface and machine identifier."""


def question(mac: bytes, number: bytes) -> bytes:
    """Return a frame that looks for DHCP servers, from a port's own MAC address; the answer is to be broadcast."""
    options = b"".join(bytes([code, len(value)]) + value for code, value in ASKED) + bytes([END])
    fields = struct.pack("!BBBB4sHH16x16s64x128x", 1, 1, 6, 0, number, 0, 0x8000, mac)
    data = fields + COOKIE + options
    udp = struct.pack("!HHHH", CLIENT_PORT, SERVER_PORT, 8 + len(data), 0) + data
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, UDP, 0, bytes(4), b"\xff" * 4)
    header = header[:10] + struct.pack("!H", _checksum(header)) + header[12:]
    return b"\xff" * 6 + mac + struct.pack("!H", ETH_P_IP) + header + udp


def _checksum(header: bytes) -> int:
    """Return the checksum of an IPv4 header (RFC 1071)."""
    total: int = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def offer(frame: bytes, number: bytes) -> str | None:
    """Return who offers something in answer to our question, as `address (MAC)`; None for any other frame."""
    if len(frame) < 14 + 20 + 8 + 240 or frame[12:14] != struct.pack("!H", ETH_P_IP) or frame[23] != UDP:
        return None
    udp = 14 + 4 * (frame[14] & 0xF)
    data = frame[udp + 8 :]
    if frame[udp + 2 : udp + 4] != struct.pack("!H", CLIENT_PORT) or data[4:8] != number or data[236:240] != COOKIE:
        return None
    options = dict(_options(data[240:]))
    if options.get(MESSAGE_TYPE) != bytes([OFFER]):
        return None
    server = options.get(SERVER_ID, b"")
    address = socket.inet_ntoa((server or frame[26:30])[:4].ljust(4, b"\0"))
    return f"{address} ({':'.join(f'{byte:02x}' for byte in frame[6:12])})"


def _options(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the options of a message up to its end mark; a length that leads outside ends it too."""
    at = 0
    while at + 1 < len(data) and data[at] != END:
        if data[at] == PAD:
            at += 1
            continue
        length = data[at + 1]
        yield data[at], data[at + 2 : at + 2 + length]
        at += 2 + length


def servers(interface: str, wait_s: float = WAIT_S) -> list[str]:
    """
    Return every DHCP server but our own that answers on a network, sorted.

    Raises:
        FactError: the port is not there or down, or nothing may be sent there.

    """
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP)) as link:
            link.bind((interface, ETH_P_IP))
            return sorted(_answers(link, link.getsockname()[4], wait_s))
    except OSError as error:
        raise FactError(f"cannot ask for DHCP servers on {interface}: {error.strerror}") from error


def _answers(link: socket.socket, mac: bytes, wait_s: float) -> set[str]:
    """Ask, once more in between, and collect who answers until the time is over."""
    number, found = os.urandom(4), set[str]()
    started, still = time.monotonic(), list(ASKED_AT_S)
    while (passed_s := time.monotonic() - started) < wait_s:
        if still and passed_s >= still[0]:
            link.send(question(mac, number))
            del still[0]
        link.settimeout(max(0.01, min([wait_s, *still]) - passed_s))
        try:
            frame, sender = link.recvfrom(2048)
        except TimeoutError:
            continue
        who = offer(frame, number)
        found |= {who} if who and sender[2] != socket.PACKET_OUTGOING else set()
    return found


FACTS: dict[str, Fact] = {
    "foreign_dhcp": Fact(
        lambda interface: ", ".join(servers(interface)) or "none",
        None,
        "the switches' tables of MAC addresses (show mac address-table address MAC), which name the port that this "
        "server is at: pull that cable or shut that port before a node boots from it",
    ),
}
