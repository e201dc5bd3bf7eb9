"""
`rdma -j link show`.

Source of the form: rdma-link(8) of iproute2: a list of links with `ifname`, `port`, `state`, `physical_state` and, for
Ethernet, `netdev`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from coldaisle.acceptance.records import CannotTellError, Fault, Reading, Where

UP = "ACTIVE and LINK_UP"
"""State and physical state of a link that carries data."""


def rdma_links(text: str, expects: Mapping[str, Any]) -> Reading:
    """
    Read whether every planned port (`expects["ports"]`) has an RDMA device that is active.

    On InfiniBand a link names no network device: there its own links are counted instead.
    """
    try:
        links = [(str(it.get("netdev", "")), str(it["ifname"]), _state(it)) for it in json.loads(text)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CannotTellError(f"rdma link printed no list of links: {error!r}") from None
    ports = [str(port) for port in expects.get("ports", ())]
    facts = {f"nic.{name or device}.slot": device for name, device, _ in links}
    if expects.get("fabric") == "infiniband":
        return Reading(faults=tuple(_of_infiniband(links, len(ports))), facts=facts)
    states = {name: state for name, _, state in links if name}
    faults = [Fault("it has no RDMA device", Where("nic", port)) for port in ports if port not in states]
    down = [port for port in ports if port in states and states[port] != UP]
    faults += [Fault(f"its RDMA link is {states[port]}, not {UP}", Where("cable", port)) for port in down]
    return Reading(faults=tuple(faults), facts=facts)


def _state(link: Mapping[str, Any]) -> str:
    return f"{link['state']} and {link['physical_state']}"


def _of_infiniband(links: list[tuple[str, str, str]], count: int) -> Iterator[Fault]:
    own = [(device, state) for name, device, state in links if not name]
    if len(own) < count:
        yield Fault(f"{len(own)} of {count} InfiniBand links are there")
    active = sum(state == UP for _, state in own)
    if active < min(count, len(own)):
        yield from (Fault(f"it is {state}, not {UP}", Where("nic", device)) for device, state in own if state != UP)
