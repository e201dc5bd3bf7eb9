"""What crosses a cable: VLAN, addresses and DSCP of a frame; of RoCE v2 queue pair, number and payload. Pure."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from struct import Struct

ROCE_PORT = 4791
"""UDP port of RoCE v2 (IBTA, annex A17)."""

MANAGEMENT_QP = 1
"""The general services queue pair: connection management, not data (IBTA)."""

TAGGED, IPV4, IPV6 = 0x8100, 0x0800, 0x86DD
UDP, ICMP, ICMPV6 = 17, 1, 58
ETHERNET, TAG, UDP_BYTES, BTH, ICRC = 14, 4, 8, 12, 4
"""Bytes of headers, and of RoCE's check sum at the end (IEEE 802.3, 802.1Q; RFC 768; IBTA)."""

IPV6_BYTES = 40
DSCP_SHIFT = 2
DATA = {0: 0, 1: 0, 2: 0, 3: 4, 4: 0, 5: 4, 6: 16, 7: 0, 8: 0, 9: 4, 10: 16, 11: 20}
"""Bytes of further headers of each packet of SEND (0 to 5) and RDMA WRITE (6 to 11) of a reliable connection (IBTA)."""

_BTH = Struct("!BBHII")
_PAD_SHIFT, _PAD_MASK, _LOW_24 = 4, 0x3, 0xFFFFFF


@dataclass(frozen=True, slots=True)
class Frame:
    """
    One frame on a cable.

    `length` is that of the IP packet in bytes, and `vlan` None where there is no tag. `opcode`, `qp` and `psn` are
    those of RoCE v2, None in other packets; `payload` is the bytes of data, 0 in packets that carry none. `echo` tells
    a ping.
    """

    cable: str
    length: int
    vlan: int | None
    source: str
    target: str
    dscp: int
    echo: bool = False
    opcode: int | None = None
    qp: int | None = None
    psn: int | None = None
    payload: int = 0

    @property
    def is_data(self) -> bool:
        """Whether it carries data of an application, and not management or an acknowledgement."""
        return self.opcode in DATA and self.qp != MANAGEMENT_QP


def parse(cable: str, raw: bytes, length: int, tag: int | None) -> Frame | None:
    """
    Return what a frame is; None for what is neither RoCE nor a ping.

    Args:
        cable: Where it was seen.
        raw: Its first bytes; headers are enough.
        length: Its length in bytes, without a tag that the kernel took off.
        tag: The VLAN that the kernel took off, None where there was none.
    """
    kind, at = int.from_bytes(raw[12:14], "big"), ETHERNET
    if kind == TAGGED:
        tag, kind, at = int.from_bytes(raw[14:16], "big") & 0xFFF, int.from_bytes(raw[16:18], "big"), ETHERNET + TAG
    header = _ip(kind, raw[at:])
    if header is None:
        return None
    traffic_class, protocol, source, target, size = header
    known = (cable, length - at, tag, source, target, traffic_class >> DSCP_SHIFT)
    packet = raw[at + size :]
    if protocol in {ICMP, ICMPV6}:
        return Frame(*known, echo=True) if packet[:1] in {b"\x08", b"\x80"} else None
    if protocol != UDP or int.from_bytes(packet[2:4], "big") != ROCE_PORT:
        return None
    opcode, flags, _key, qp, psn = _BTH.unpack_from(packet, UDP_BYTES)
    carried = int.from_bytes(packet[4:6], "big") - UDP_BYTES - BTH - ICRC - (flags >> _PAD_SHIFT & _PAD_MASK)
    payload = carried - DATA[opcode] if opcode in DATA else 0
    return Frame(*known, opcode=opcode, qp=qp & _LOW_24, psn=psn & _LOW_24, payload=payload)


def _ip(kind: int, raw: bytes) -> tuple[int, int, str, str, int] | None:
    """Return traffic class, protocol, source, target and header size of an IP packet."""
    if kind == IPV4:
        source, target = (str(ipaddress.IPv4Address(raw[at : at + 4])) for at in (12, 16))
        return raw[1], raw[9], source, target, (raw[0] & 0xF) * 4
    if kind == IPV6:
        source, target = (str(ipaddress.IPv6Address(raw[at : at + 16])) for at in (8, 24))
        return int.from_bytes(raw[:2], "big") >> 4 & 0xFF, raw[6], source, target, IPV6_BYTES
    return None
