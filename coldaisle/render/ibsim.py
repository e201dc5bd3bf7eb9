"""
An InfiniBand fabric as `ibsim` reads it: a block for each switch and each adapter, with what is in each of its ports.

The format is that of ibsim's netlists (net-examples in rdma-core's ibsim): names in quotes, port numbers in brackets,
and an empty line after each block, without which the next one is not seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from coldaisle.plan.model import End


def ibsim_netlist(cables: Iterable[tuple[End, End]], switch_ports: Mapping[str, Sequence[str]]) -> str:
    """
    Return the netlist of some cables.

    Args:
        cables: Both ends of each. What is no switch has an adapter of one port for each of its ends, whose name is
            `device port`: node descriptions of real hosts have that form.
        switch_ports: The ports of every switch, in the order of their numbers, which begin at 1.

    Raises:
        ValueError: a switch has no port of that name.
    """
    blocks: defaultdict[str, dict[int, tuple[str, int]]] = defaultdict(dict, {name: {} for name in switch_ports})
    for one, two in cables:
        for own, other in ((one, two), (two, one)):
            name, number = _port(own, switch_ports)
            blocks[name][number] = _port(other, switch_ports)
    return "".join(_block(name, len(switch_ports.get(name, ())), links) for name, links in blocks.items())


def _port(end: End, switch_ports: Mapping[str, Sequence[str]]) -> tuple[str, int]:
    """Return the name of a block and a port's number in it."""
    if end.device not in switch_ports:
        return f"{end.device} {end.port}", 1
    return end.device, list(switch_ports[end.device]).index(end.port) + 1


def _block(name: str, ports: int, links: Mapping[int, tuple[str, int]]) -> str:
    head = f'Switch {ports} "{name}"' if ports else f'Hca 1 "{name}"'
    lines = [f'[{number}] "{peer}"[{at}]' for number, (peer, at) in sorted(links.items())]
    return "\n".join([head, *lines, "", ""])
