"""
The cables of a plan as people in the hall need them: both ends with their places, lengths in parts, and labels.

Labels follow ANSI/TIA-606: the near end first, then the far one, each as space, cabinet, rack unit and port. A cabinet
is known by its rack's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coldaisle.plan import plan_hash
from coldaisle.plan.cabling import Floor, Place, Run, rack_positions
from coldaisle.plan.model import CablePlan, End, FabricPlan, SitePlan
from coldaisle.spec import SiteSpec

UNPLACED = ""


@dataclass(frozen=True, slots=True)
class Plug:
    """One end of a cable with its place; hall, rack and unit are empty where they are not known."""

    device: str
    port: str
    hall: str
    rack: str
    unit: int | None

    @property
    def identifier(self) -> str:
        """Return the end in TIA-606's form, or by its device where it has no place."""
        if self.unit is None:
            return f"{self.device}:{self.port}"
        return f"{self.hall}.{self.rack}-{self.unit:02d}:{self.port}"

    @property
    def sorting(self) -> tuple[object, ...]:
        """Return what plugs are sorted by: place from the top of a rack down, then device and port by their numbers."""
        return self.hall, self.rack, -(self.unit or 0), self.device, _numbers_in_order(self.port)


@dataclass(frozen=True, slots=True)
class Row:
    """A cable."""

    fabric: FabricPlan
    cable: CablePlan
    a: Plug
    b: Plug
    run: Run | None

    @property
    def identifier(self) -> str:
        """Return the cable's own name, which its QR code carries: both ends, whichever is near."""
        return f"{self.a.device}:{self.a.port} {self.b.device}:{self.b.port}"

    def label(self, near: Plug) -> str:
        """Return what the label at one end says."""
        far = self.b if near is self.a else self.a
        return f"{near.identifier} / {far.identifier}"

    @property
    def length(self) -> str:
        """Return the length with its unit."""
        return "unknown" if self.cable.length_m is None else f"{self.cable.length_m:g} m"


@dataclass(frozen=True, slots=True)
class Pack:
    """All cables of a site, with the plan that they come from."""

    site: str
    plan: SitePlan
    digest: str
    rows: tuple[Row, ...]

    @property
    def origin(self) -> str:
        """Say which plan this is of."""
        return f"site {self.site}, plan {self.digest}"


def pack_of(spec: SiteSpec, plan: SitePlan) -> Pack:
    """Return the cables of a plan, fabric by fabric in the plan's order."""
    places = {one.device: Place(rack.name, one.rack_unit) for rack in plan.facility.racks for one in rack.devices}
    halls = {rack.name: rack.hall for rack in plan.facility.racks}
    floor = Floor(rack_positions(spec.facility), places, spec.facility.cabling)
    rows = tuple(
        Row(fabric, cable, _plug(cable.a, places, halls), _plug(cable.b, places, halls), _run(floor, cable))
        for fabric in plan.fabrics.values()
        for cable in fabric.cables
    )
    return Pack(plan.name, plan, plan_hash(plan), rows)


def _run(floor: Floor, cable: CablePlan) -> Run | None:
    return None if cable.length_m is None else floor.run(cable.a.device, cable.b.device)


def _plug(end: End, places: Mapping[str, Place], halls: Mapping[str, str]) -> Plug:
    place = places.get(end.device)
    if place is None:
        return Plug(end.device, end.port, UNPLACED, UNPLACED, None)
    return Plug(end.device, end.port, halls[place.rack], place.rack, place.rack_unit)


def _numbers_in_order(text: str) -> tuple[tuple[int, str], ...]:
    """Return a text so that swp2 comes before swp10."""
    parts: list[tuple[int, str]] = []
    digits = ""
    for letter in f"{text}\0":
        if letter.isdigit():
            digits += letter
            continue
        if digits:
            parts.append((int(digits), ""))
        digits = ""
        parts.append((-1, letter))
    return tuple(parts)
