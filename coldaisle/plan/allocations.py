"""
Addresses handed out of pools, so that nobody moves.

What an earlier plan handed out (`allocations.yaml`) is kept; who is new gets the lowest address that is free, in the
order of the names. Without the file everybody is new, and a node added in the middle moves those behind it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping

from coldaisle.spec.addressing import AddressPool


def hand_out(
    pool: AddressPool, names: Iterable[str], given: Mapping[str, str], reserved: Iterable[str] = ()
) -> dict[str, str]:
    """
    Return an address for each name.

    Args:
        pool: Where addresses come from. One that is too small is not an error here: addresses go on behind its end,
            and the check `pool-too-small` tells of it.
        names: Who needs one.
        given: What was handed out before, by name. Names that are gone keep theirs.
        reserved: Addresses that belong to something else.
    """
    taken = {*given.values(), *reserved, *([pool.gateway] if pool.gateway else [])}
    free = (address for address in _addresses(pool) if address not in taken)
    return {name: given.get(name) or next(free) for name in sorted(set(names))}


def _addresses(pool: AddressPool) -> Iterator[str]:
    network = ipaddress.ip_network(pool.subnet)
    first = ipaddress.ip_address(pool.first) if pool.first else network[min(1, network.num_addresses - 1)]
    limit = 2**first.max_prefixlen - 1
    number = int(first)
    while True:
        yield str(type(first)(min(number, limit)))
        number += 1
