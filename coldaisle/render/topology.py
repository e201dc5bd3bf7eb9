"""
The fabrics on paper: what to cable, what to buy, and a drawing of the tiers.

Whoever stands in the hall needs both ends of each cable with rack and rack unit; whoever orders needs counts by length.
Output is sorted and stable to the byte, so that two plans can be compared line by line.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator

from coldaisle.plan.model import CablePlan, End, FabricPlan, FacilityPlan, SitePlan
from coldaisle.render.fabric.listing import fabrics_of, places_of

COLUMNS = (
    "fabric",
    "kind",
    "from_device",
    "from_port",
    "from_rack",
    "from_unit",
    "to_device",
    "to_port",
    "to_rack",
    "to_unit",
    "rate_gbps",
    "length_m",
)


def cabling_csv(plan: SitePlan, fabric: str | None = None) -> str:
    """
    Return the cabling plan as CSV: a line a cable, with both ends, rack and rack unit.

    Args:
        plan: The site's plan.
        fabric: Only this fabric; left out, all of them.

    Raises:
        LookupError: there is no such fabric.
    """
    places = places_of(plan)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in fabrics_of(plan, fabric):
        writer.writerows(_row(one.name, cable, places) for cable in one.cables)
    return out.getvalue()


def _row(fabric: str, cable: CablePlan, places: dict[str, tuple[str, int]]) -> tuple[object, ...]:
    ends = (part for end in (cable.a, cable.b) for part in _end(end, places))
    return (fabric, cable.kind, *ends, f"{cable.rate_gbps:g}", "" if cable.length_m is None else f"{cable.length_m:g}")


def _end(end: End, places: dict[str, tuple[str, int]]) -> tuple[object, ...]:
    """Return device, port, rack and unit; the last two are empty where the place is not known."""
    return (end.device, end.port, *places.get(end.device, ("", "")))


def bill_of_materials(plan: SitePlan) -> tuple[tuple[str, str, int], ...]:
    """
    Return what to order, sorted: kind, item, count.

    Cables count by rate and length; an unknown length says so. Of power and cooling, what the site names a model of.
    """
    systems = Counter(("system", node.system) for node in plan.nodes)
    fabrics = plan.fabrics.values()
    switches = Counter(("switch", switch.model) for fabric in fabrics for switch in fabric.switches)
    cables = Counter(("cable", _cable_item(cable)) for fabric in fabrics for cable in fabric.cables)
    counts = systems + switches + cables + Counter(_plant(plan.facility))
    return tuple((kind, item, count) for (kind, item), count in sorted(counts.items()))


def _plant(facility: FacilityPlan) -> Iterator[tuple[str, str]]:
    """Yield each unit of power and cooling whose model is known, one by one."""
    for rack in facility.racks:
        yield from (("rack PDU", feed.pdu) for feed in rack.feeds if feed.pdu)
        if rack.door_model:
            yield "rear door", rack.door_model
    for part in facility.upstream:
        yield from [("UPS", part.model)] * part.units if part.model else ()
    for loop in facility.cooling:
        yield from [("coolant unit", loop.model)] * loop.units if loop.model else ()


def _cable_item(cable: CablePlan) -> str:
    length = "unknown length" if cable.length_m is None else f"{cable.length_m:05.1f} m"
    return f"{cable.rate_gbps:g} Gb/s, {length}"


def topology_dot(plan: SitePlan, fabric: str) -> str:
    """
    Return the switches of a fabric as a Graphviz drawing, tier by tier; parallel links are one line with their count.

    Raises:
        LookupError: there is no such fabric.
    """
    (one,) = fabrics_of(plan, fabric)
    return "\n".join([f'graph "{fabric}" {{', "  rankdir=BT;", *_tiers(one), *_links(one), "}", ""])


def _tiers(fabric: FabricPlan) -> Iterator[str]:
    for role in ("oob", "leaf", "spine", "core"):
        names = [switch.name for switch in fabric.switches if switch.role == role]
        if names:
            yield "  { rank=same; " + " ".join(f'"{name}";' for name in names) + " }"


def _links(fabric: FabricPlan) -> Iterator[str]:
    switches = {switch.name for switch in fabric.switches}
    pairs = Counter(
        (cable.a.device, cable.b.device)
        for cable in fabric.cables
        if cable.a.device in switches and cable.b.device in switches
    )
    for (lower, upper), count in sorted(pairs.items()):
        yield f'  "{lower}" -- "{upper}" [label="{count}"];'
