"""
Addresses out of a pool, by index.

Two series share a pool without a border between them: one counts up from the bottom, one down from the top. So each
grows without moving the other, and an address depends on its own index only.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from coldaisle.spec.addressing import AddressPool

_IPV4_BITS = 32


@dataclass(frozen=True, slots=True)
class Pool:
    """A subnet as numbers: the first address handed out, how many there are, and the bits of an address."""

    first: int
    size: int
    bits: int

    def text(self, number: int) -> str:
        """Write an address."""
        if self.bits == _IPV4_BITS:
            return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        return str(ipaddress.IPv6Address(number))

    def bottom(self, index: int) -> str | None:
        """Return the address at a place counted from the bottom, or None past the end."""
        return self.text(self.first + index) if index < self.size else None

    def top(self, index: int, bottom: int = 0) -> str | None:
        """Return the address at a place counted from the top, or None where `bottom` addresses from below are met."""
        return self.text(self.first + self.size - 1 - index) if index < self.size - bottom else None

    @property
    def pairs(self) -> int:
        """Return how many point-to-point links the pool holds."""
        return self.size // 2

    def bottom_pair(self, index: int) -> tuple[str, str] | None:
        """Return both ends of a link (RFC 3021, RFC 6164) counted from the bottom, or None past the end."""
        return self._pair(self.first + 2 * index) if index < self.pairs else None

    def top_pair(self, index: int, bottom: int = 0) -> tuple[str, str] | None:
        """Return both ends of a link counted from the top, or None where `bottom` links from below are met."""
        return self.bottom_pair(self.pairs - 1 - index) if index < self.pairs - bottom else None

    def _pair(self, number: int) -> tuple[str, str]:
        return f"{self.text(number)}/{self.bits - 1}", f"{self.text(number + 1)}/{self.bits - 1}"


def link_pool(spec: AddressPool) -> Pool:
    """Return a pool for links: from an even address, so that both ends of a link share their /31."""
    network = ipaddress.ip_network(spec.subnet)
    base = int(network.network_address)
    first = int(ipaddress.ip_address(spec.first)) if spec.first else base
    first += first % 2
    return Pool(first, max(0, base + network.num_addresses - first), network.max_prefixlen)


def host_pool(spec: AddressPool) -> Pool:
    """Return a pool of host addresses: without the subnet's own address and, in IPv4, without its broadcast address."""
    network = ipaddress.ip_network(spec.subnet)
    base = int(network.network_address)
    last = base + network.num_addresses - (1 if network.version == 4 else 0)  # noqa: PLR2004 - the IP version
    first = int(ipaddress.ip_address(spec.first)) if spec.first else base + 1
    return Pool(first, max(0, last - first), network.max_prefixlen)
