"""
IPMI without a login: the presence ping of RMCP, and Get Channel Authentication Capabilities.

Formats: ASF 2.0 (presence ping and pong), IPMI 2.0 tables 13-8 and 22-15.
"""

from __future__ import annotations

import contextlib
import socket
import time
from dataclasses import dataclass

PORT = 623
PING = bytes([0x06, 0x00, 0xFF, 0x06, 0x00, 0x00, 0x11, 0xBE, 0x80, 0x00, 0x00, 0x00])
PONG = 0x40
ASF, IPMI = 0x06, 0x07

ASK = bytes([0x06, 0x00, 0xFF, 0x07, *[0x00] * 9, 0x09, 0x20, 0x18, 0xC8, 0x81, 0x00, 0x38, 0x8E, 0x04, 0xB5])
"""Get Channel Authentication Capabilities of this channel, with IPMI 2.0's data, for an administrator."""

ANSWER_AT = 14
"""Where the IPMI message begins in a packet outside of sessions."""

HEADER_BYTES = 7
"""Addresses, checksum, sequence, command and completion code of an answer."""

VERSION_2, EXTENDED = 0x80, 0x02

VENDORS = {
    2: "IBM",
    11: "HPE",
    343: "Intel",
    674: "Dell",
    5703: "NVIDIA",
    5771: "Cisco",
    7154: "IPMI forum",
    10876: "Supermicro",
    19046: "Lenovo",
    20974: "AMI",
    47196: "HPE",
}
"""Manufacturers by their IANA private enterprise number (iana.org/assignments/enterprise-numbers)."""


@dataclass(frozen=True, slots=True)
class Rmcp:
    """What answered: a pong, an IPMI message, or both. `version` is IPMI's; `vendor` is what the OEM number says."""

    version: str | None
    vendor: str | None


def ask(address: str, timeout_s: float, port: int | None = None) -> Rmcp | None:
    """Return what answers IPMI at an address within `timeout_s` seconds, None where nothing does; it asks twice."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    seen: Rmcp | None = None
    with socket.socket(family, socket.SOCK_DGRAM) as sock, contextlib.suppress(OSError):
        sock.connect((address, port or PORT))
        deadline = time.monotonic() + timeout_s
        for _ in range(2):
            for packet in (ASK, PING):
                sock.send(packet)
            seen = _listened(sock, min(deadline, time.monotonic() + timeout_s / 2)) or seen
            if seen is not None:
                break
    return seen


def _listened(sock: socket.socket, deadline: float) -> Rmcp | None:
    """Return the best answer until the deadline: an IPMI message says more than a pong."""
    seen: Rmcp | None = None
    while (left := deadline - time.monotonic()) > 0:
        sock.settimeout(left)
        try:
            packet = sock.recv(512)
        except TimeoutError:
            break
        answer = parse(packet)
        if answer and answer.version:
            return answer
        seen = seen or answer
    return seen


def parse(packet: bytes) -> Rmcp | None:
    """Return what one packet tells, None where it is neither a pong nor the answer to our question."""
    if len(packet) < len(PING) or packet[0] != PING[0]:
        return None
    if packet[3] & 0x1F == ASF:
        return Rmcp(None, None) if packet[8] == PONG else None
    message = packet[ANSWER_AT:]
    if packet[3] & 0x1F != IPMI or len(message) < HEADER_BYTES + 8 or message[5] != ASK[-4] or message[6]:
        return None
    data = message[HEADER_BYTES:]
    newer = data[1] & VERSION_2 and data[3] & EXTENDED
    oem = int.from_bytes(data[4:7], "little")
    return Rmcp("2.0" if newer else "1.5", VENDORS.get(oem))
