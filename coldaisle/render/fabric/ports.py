"""Port maps: each port of each switch, whether a cable takes it or not, and what is at the other end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coldaisle.plan import plan_hash
from coldaisle.plan.breakout import port_plans
from coldaisle.plan.model import CablePlan, End, FabricPlan, PortPlan, PortVlansPlan, SitePlan, SwitchPlan
from coldaisle.render.fabric.listing import Listing, Row, fabrics_of, places_of
from coldaisle.spec import SiteSpec

COLUMNS = (
    "switch", "fabric", "port", "cage", "split", "port_gbps", "state", "link_gbps", "peer", "peer_port", "peer_rack",
    "peer_unit", "rail", "length_m", "vlans",
)  # fmt: skip

Cabled = Mapping[End, tuple[CablePlan, End]]


def port_map(spec: SiteSpec, plan: SitePlan, fabric: str | None = None) -> Listing:
    """
    Return every port of every switch of a fabric, or of all: switch by switch, and port by port as they are numbered.

    A switch's management port is in the map of the fabric that takes it, at the other end of its cable.

    Raises:
        LookupError: there is no such fabric.
    """
    places = places_of(plan)
    rows = tuple(row for one in fabrics_of(plan, fabric) for row in _of_fabric(spec, one, places))
    return Listing("ports", plan.name, plan_hash(plan), COLUMNS, rows, grouped=True)


def _of_fabric(spec: SiteSpec, fabric: FabricPlan, places: Mapping[str, tuple[str, int]]) -> Iterator[Row]:
    vlans = {one.port: _vlans(one) for one in fabric.overlay.ports} if fabric.overlay else {}
    cabled = {end: (cable, far) for cable in fabric.cables for end, far in ((cable.a, cable.b), (cable.b, cable.a))}
    ports: dict[str, tuple[PortPlan, ...]] = {}
    for switch in fabric.switches:
        # The plan has the ports of configured switches; those of InfiniBand are named by the same rule.
        if switch.role not in ports:
            ports[switch.role] = port_plans(spec.catalog, spec.fabrics[fabric.name], switch.role)
        for port in ports[switch.role]:
            row = _row(fabric, switch, port, cabled, places)
            yield (*row, vlans.get(End(device=switch.name, port=port.name)))


def _vlans(port: PortVlansPlan) -> str:
    """Return the VLANs of a port: the one without a tag says so."""
    untagged = [] if port.untagged is None else [f"{port.untagged} untagged"]
    return ", ".join([*untagged, *map(str, port.tagged)])


def _row(
    fabric: FabricPlan, switch: SwitchPlan, port: PortPlan, cabled: Cabled, places: Mapping[str, tuple[str, int]]
) -> Row:
    """Return a port of a switch without its VLANs."""
    own = switch.name, fabric.name, port.name, port.cage, port.split, port.rate_gbps
    found = cabled.get(End(device=switch.name, port=port.name))
    if found is None:
        return (*own, "free", *[None] * 7)
    cable, far = found
    rack, unit = places.get(far.device, (None, None))
    return (*own, "used", cable.rate_gbps, far.device, far.port, rack, unit, cable.rail, cable.length_m)
