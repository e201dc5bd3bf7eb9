"""
Every cable of a fabric, with both ends and, where the fabric routes, an address at each end.

A node's port takes the place of the node's index; an uplink takes the place of its leaf and its number there. Both
stay when others come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from coldaisle.plan.address_pools import Pool
from coldaisle.plan.cabling import Floor
from coldaisle.plan.layout import Layout, PortAt, fabric_port_count
from coldaisle.plan.model import CablePlan, End
from coldaisle.plan.topology import Link, leaf_spine_links, spine_core_links
from coldaisle.spec.catalog import Switch

UplinkKind = Literal["leaf-spine", "spine-core"]


@dataclass(frozen=True, slots=True)
class PortTable:
    """Names and rates of a switch's ports, worked out once for all switches of a model."""

    model: Switch
    names: tuple[str, ...]
    rates: tuple[float, ...]

    def name(self, index: int) -> str:
        """Name a port; one past the end is named too, and a check tells of it."""
        return self.names[index] if index < len(self.names) else self.model.port_name(index)

    def rate(self, index: int) -> float:
        """Return a port's rate in Gb/s; past the end, the last port's."""
        return self.rates[min(index, len(self.rates) - 1)]


def port_table(model: Switch) -> PortTable:
    """Return the ports of a switch model."""
    rates = tuple(block.rate_gbps for block in model.ports for _ in range(block.count))
    return PortTable(model, model.port_names(), rates)


@dataclass(frozen=True, slots=True)
class Wiring:
    """A fabric's shape with what its cables need: its models' ports, places, addresses, and other devices' ports."""

    layout: Layout
    ports: Mapping[str, PortTable]
    floor: Floor
    links: Pool | None
    extras: Mapping[int, PortAt]

    def cables(self) -> tuple[CablePlan, ...]:
        """Return all cables: nodes by index, managers, other devices, then uplinks by leaf and by spine."""
        return (*self._node_cables(), *self._manager_cables(), *self._extra_cables(), *self._uplink_cables())

    # -- leaf ports ---------------------------------------------------------------------------------------------
    def _node_cables(self) -> Iterator[CablePlan]:
        layout = self.layout
        for index, ports in layout.members.items():
            group, place = divmod(index, layout.group_places)
            taken = [0] * layout.spec.planes
            for number, port in enumerate(ports):
                plane = port.plane % layout.spec.planes
                rail = (number if port.rail is None else port.rail) if layout.spec.rail_optimized else 0
                slot = place if layout.spec.rail_optimized else place * layout.place_ports + taken[plane]
                taken[plane] += 1
                leaf = group * layout.group_leaves + plane * layout.rails + rail
                yield self._leaf_cable(port, leaf, slot, index * layout.node_ports + number)

    def _manager_cables(self) -> Iterator[CablePlan]:
        """Managers take the last places of the last group, one port on each rail."""
        layout = self.layout
        rate = layout.models[layout.leaf_role].ports[0].rate_gbps
        for number, (device, port) in enumerate(layout.managers):
            place, rail = divmod(number, layout.group_leaves)
            leaf = (layout.groups - 1) * layout.group_leaves + rail
            yield self._leaf_cable(PortAt(device, port, rate, None), leaf, layout.group_places - 1 - place, None)

    def _extra_cables(self) -> Iterator[CablePlan]:
        """Other devices take the ports that no node takes, from the last one down."""
        layout = self.layout
        spare = layout.down_ports - layout.group_places * layout.place_ports
        for number, port in self.extras.items():
            leaf, back = divmod(number, spare if spare > 0 else layout.down_ports)
            # Without spare ports in each group, they fill the last group from its end, then the one before.
            leaf = leaf if spare > 0 else layout.groups - 1 - leaf
            yield self._leaf_cable(port, leaf * layout.group_leaves, layout.down_ports - 1 - back, None)

    def _leaf_cable(self, port: PortAt, leaf: int, slot: int, link: int | None) -> CablePlan:
        layout = self.layout
        switches = layout.switches[layout.leaf_role]
        switch = switches[min(leaf, len(switches) - 1)]
        ports = self.ports[layout.leaf_role]
        pair = self._node_pair(link)
        return CablePlan(
            a=End(device=port.device, port=port.port),
            b=End(device=switch.name, port=ports.name(slot)),
            rate_gbps=min(port.rate_gbps, ports.rate(slot)),
            kind="node-leaf" if layout.tiers else "oob",
            rail=port.rail if layout.spec.rail_optimized else None,
            length_m=self.floor.length_m(port.device, switch.name),
            a_address=pair[1] if pair else None,
            b_address=pair[0] if pair else None,
            mtu_bytes=layout.spec.node_mtu_bytes,
        )

    def _node_pair(self, link: int | None) -> tuple[str, str] | None:
        """Return the addresses of a node's link: the leaf's end is the even one. Only RoCE routes down to the node."""
        if link is None or self.links is None or self.layout.spec.kind != "roce":
            return None
        return self.links.bottom_pair(link)

    # -- uplinks ------------------------------------------------------------------------------------------------
    def _uplink_cables(self) -> Iterator[CablePlan]:
        tiers = self.layout.tiers
        if tiers is None:
            return
        # With three tiers, the links of both upper tiers take turns in the pool, so that each grows by itself.
        step = 2 if tiers.cores else 1
        leaf_links, down = leaf_spine_links(tiers), self.layout.down_ports
        # Each port that could go up has its place in the pool, cabled or not: so a spine more moves no address.
        places = max(self.layout.uplinks, fabric_port_count(self.layout.models["leaf"]) - down)
        yield from self._uplinks("leaf-spine", leaf_links, down, places, 0, step)
        if tiers.cores:
            half = fabric_port_count(self.layout.models["spine"]) // 2
            yield from self._uplinks("spine-core", spine_core_links(tiers), half, half, 1, step)

    def _uplinks(  # noqa: PLR0913, PLR0917 - a tier's links, its ports and its places in the pool
        self, kind: UplinkKind, links: Iterable[Link], first_up: int, uplinks: int, offset: int, step: int
    ) -> Iterator[CablePlan]:
        """Yield the cables between two tiers; `uplinks`, `offset` and `step` give each link its place in the pool."""
        (lower, below), (upper, above) = ((self.layout.switches[role], self.ports[role]) for role in kind.split("-"))
        links_below = self.layout.node_links if self.layout.spec.kind == "roce" else 0
        for link in links:
            down, up = lower[link.lower].name, upper[link.upper].name
            number = (link.lower * uplinks + link.uplink) * step + offset
            numbered = self.links is not None and not self.layout.spec.unnumbered
            pair = self.links.top_pair(number, links_below) if self.links and numbered else None
            yield CablePlan(
                a=End(device=down, port=below.name(first_up + link.uplink)),
                b=End(device=up, port=above.name(link.port)),
                rate_gbps=min(below.rate(first_up + link.uplink), above.rate(link.port)),
                kind=kind,
                length_m=self.floor.length_m(down, up),
                a_address=pair[0] if pair else None,
                b_address=pair[1] if pair else None,
                mtu_bytes=self.layout.spec.mtu_bytes,
            )
