"""
Every cable of a fabric, with both ends and, where the fabric routes, an address at each end.

A node's port takes the place of the node's index; an uplink takes the place of its leaf and its number there. Both
stay when others come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from coldaisle.plan.address_pools import Pool
from coldaisle.plan.cabling import Floor
from coldaisle.plan.layout import Layout, PortAt
from coldaisle.plan.model import CablePlan, End
from coldaisle.plan.topology import Link, leaf_spine_links, spine_core_links
from coldaisle.spec.catalog import Catalog, Switch

UplinkKind = Literal["leaf-spine", "spine-core"]


@dataclass(frozen=True, slots=True)
class Wiring:
    """A fabric's shape with what its cables need: facts, places, addresses, and the ports of other devices."""

    layout: Layout
    catalog: Catalog
    floor: Floor
    links: Pool | None
    extras: tuple[PortAt, ...]

    def cables(self) -> tuple[CablePlan, ...]:
        """Return all cables: nodes by index, managers, other devices, then uplinks by leaf and by spine."""
        return (*self._node_cables(), *self._manager_cables(), *self._extra_cables(), *self._uplink_cables())

    # -- leaf ports ---------------------------------------------------------------------------------------------
    def _node_cables(self) -> Iterator[CablePlan]:
        layout = self.layout
        for index, ports in layout.members.items():
            group, place = divmod(index, layout.group_places)
            for number, port in enumerate(ports):
                rail = (number if port.rail is None else port.rail) if layout.spec.rail_optimized else 0
                slot = place if layout.spec.rail_optimized else place * layout.place_ports + number
                yield self._leaf_cable(port, group * layout.rails + rail, slot, index * layout.node_ports + number)

    def _manager_cables(self) -> Iterator[CablePlan]:
        """Managers take the last places of the last group, one port on each rail."""
        layout = self.layout
        rate = layout.leaf.ports[0].rate_gbps
        for number, (device, port) in enumerate(layout.managers):
            place, rail = divmod(number, layout.rails)
            leaf = (layout.groups - 1) * layout.rails + rail
            yield self._leaf_cable(PortAt(device, port, rate, None), leaf, layout.group_places - 1 - place, None)

    def _extra_cables(self) -> Iterator[CablePlan]:
        """Other devices take the ports that no node takes, from the last one down."""
        layout = self.layout
        spare = layout.down_ports - layout.group_places * layout.place_ports
        for number, port in enumerate(self.extras):
            leaf, back = divmod(number, spare) if spare > 0 else (layout.groups - 1, number)
            yield self._leaf_cable(port, leaf * layout.rails, layout.down_ports - 1 - back, None)

    def _leaf_cable(self, port: PortAt, leaf: int, slot: int, link: int | None) -> CablePlan:
        layout = self.layout
        switches = layout.switches[layout.leaf_role]
        switch = switches[min(leaf, len(switches) - 1)]
        block, _ = layout.leaf.block_of(slot)
        pair = self._node_pair(link)
        return CablePlan(
            a=End(device=port.device, port=port.port),
            b=End(device=switch.name, port=layout.leaf.port_name(slot)),
            rate_gbps=min(port.rate_gbps, block.rate_gbps),
            kind="node-leaf" if layout.tiers else "oob",
            rail=port.rail if layout.spec.rail_optimized else None,
            length_m=self.floor.length_m(port.device, switch.name),
            a_address=pair[1] if pair else None,
            b_address=pair[0] if pair else None,
            mtu_bytes=layout.spec.node_mtu_bytes,
        )

    @property
    def _links_below(self) -> int:
        """Return how many links the nodes take from the bottom of the pool: only RoCE routes down to the node."""
        return self.layout.node_links if self.layout.spec.kind == "roce" else 0

    def _node_pair(self, link: int | None) -> tuple[str, str] | None:
        """Return the addresses of a node's link: the leaf's end is the even one. Only RoCE routes down to the node."""
        if link is None or self.links is None or self.layout.spec.kind != "roce":
            return None
        return self.links.bottom_pair(link)

    # -- uplinks ------------------------------------------------------------------------------------------------
    def _uplink_cables(self) -> Iterator[CablePlan]:
        layout, tiers = self.layout, self.layout.tiers
        if tiers is None:
            return
        # With three tiers, the links of both upper tiers take turns, so that each grows by itself.
        step, leaf_first = (2, layout.down_ports) if tiers.cores else (1, layout.down_ports)
        spine_first = self._switch_of("spine").port_count // 2
        for link in leaf_spine_links(tiers):
            number = (link.lower * layout.uplinks + link.uplink) * step
            yield self._uplink("leaf-spine", link, leaf_first, number)
        for link in spine_core_links(tiers):
            number = (link.lower * spine_first + link.uplink) * step + 1
            yield self._uplink("spine-core", link, spine_first, number)

    def _switch_of(self, role: str) -> Switch:
        return self.catalog.switches[self.layout.switches[role][0].model]

    def _uplink(self, kind: UplinkKind, link: Link, first_up: int, number: int) -> CablePlan:
        lower, upper = kind.split("-")
        below, above = self.layout.switches[lower][link.lower], self.layout.switches[upper][link.upper]
        below_model, above_model = self.catalog.switches[below.model], self.catalog.switches[above.model]
        below_rate = below_model.block_of(first_up + link.uplink)[0].rate_gbps
        pair = self.links.top_pair(number, self._links_below) if self.links else None
        return CablePlan(
            a=End(device=below.name, port=below_model.port_name(first_up + link.uplink)),
            b=End(device=above.name, port=above_model.port_name(link.port)),
            rate_gbps=min(below_rate, above_model.block_of(link.port)[0].rate_gbps),
            kind=kind,
            length_m=self.floor.length_m(below.name, above.name),
            a_address=pair[0] if pair else None,
            b_address=pair[1] if pair else None,
            mtu_bytes=self.layout.spec.mtu_bytes,
        )
