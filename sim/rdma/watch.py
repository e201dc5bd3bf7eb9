"""Watching cables: every frame on some ports of a namespace, taken by this program outside of the guests."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Sequence
from struct import Struct
from types import TracebackType
from typing import Self

from sim.rdma.frames import Frame, parse
from sim.twin.probes import within

ETH_P_ALL = 3
SOL_PACKET, PACKET_STATISTICS, PACKET_AUXDATA = 263, 6, 8
SO_RCVBUFFORCE = 33
TP_STATUS_VLAN_VALID = 1 << 4
"""Numbers of the kernel: linux/if_ether.h, linux/socket.h, linux/if_packet.h, asm-generic/socket.h."""

AUXDATA = Struct("IIIHHHH")
"""tpacket_auxdata: status, length, captured length, two offsets, VLAN tag and its protocol."""

STATISTICS = Struct("II")
VLAN_MASK = 0xFFF
SNAP_BYTES = 192
"""Enough for all headers of RoCE over IPv6 with a tag."""

BUFFER_BYTES = 64 * 1024 * 1024
WAIT_S = 0.1


class Watch:
    """
    Frames on ports of a namespace while the block runs; `frames` has them afterwards, in the order that they were seen.

    `dropped` counts what came faster than this program took it: with any, a count of bytes says nothing.
    """

    def __init__(self, namespace: str, ports: Sequence[str]) -> None:
        """Remember where to watch."""
        self.frames: list[Frame] = []
        self.dropped = 0
        self._namespace, self._ports = namespace, ports
        self._sockets: dict[socket.socket, str] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Self:
        """Open the ports; from now on nothing is missed."""
        with within(self._namespace):
            for port in self._ports:
                link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
                link.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
                link.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
                link.bind((port, ETH_P_ALL))
                link.setblocking(False)
                self._sockets[link] = port
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take what has come, and close."""
        self._stop.set()
        self._thread.join()
        for link in self._sockets:
            self.dropped += STATISTICS.unpack(link.getsockopt(SOL_PACKET, PACKET_STATISTICS, STATISTICS.size))[1]
            link.close()

    def _follow(self) -> None:
        with selectors.DefaultSelector() as selector:
            for link in self._sockets:
                selector.register(link, selectors.EVENT_READ)
            while True:
                ending = self._stop.is_set()
                ready = selector.select(WAIT_S)
                for key, _ in ready:
                    self._take(key.fileobj)  # type: ignore[arg-type]  # only sockets are registered
                if ending and not ready:
                    return

    def _take(self, link: socket.socket) -> None:
        """Take all frames that wait at a port."""
        while True:
            try:
                raw, notes, flags, _ = link.recvmsg(SNAP_BYTES, socket.CMSG_SPACE(AUXDATA.size))
            except BlockingIOError:
                return
            del flags
            status, length, _, _, _, tag, _ = AUXDATA.unpack(notes[0][2])
            frame = parse(self._sockets[link], raw, length, tag & VLAN_MASK if status & TP_STATUS_VLAN_VALID else None)
            if frame is not None:
                self.frames.append(frame)
