"""
Where things stand on the floor, and how long a cable between two of them must be.

A cable between racks goes up to a tray, along the row, across to the other row, and down again. Within a rack it runs
beside the devices. A length is not known where a place is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from coldaisle.spec.facility import Cabling, FacilitySpec, placed_racks

UNIT_M = 0.04445
"""Height of a rack unit: 1.75 inch (EIA-310)."""
RACK_SIDE_M = 0.5
"""From a port to the rack's side, where cables run up and down."""
STEP_M = 0.5
"""Lengths are rounded up to this."""


@dataclass(frozen=True, slots=True)
class RackPosition:
    """A rack on the floor: distance along its row and across the rows, in metres. None is not known."""

    hall: str
    row: str
    along_m: float | None
    across_m: float | None
    height_u: int


@dataclass(frozen=True, slots=True)
class Place:
    """A device's place: its rack and its lowest rack unit."""

    rack: str
    rack_unit: int


@dataclass(frozen=True, slots=True)
class Run:
    """
    A cable's length in its parts, in metres.

    Up and down beside the devices, along the tray, and what is left over for dressing and service loops once the
    length is rounded up.
    """

    vertical_m: float
    tray_m: float
    service_loop_m: float


@dataclass(frozen=True, slots=True)
class Floor:
    """All rack positions of a site, the places of its devices, and how cables run."""

    racks: Mapping[str, RackPosition]
    places: Mapping[str, Place]
    cabling: Cabling

    def length_m(self, a: str, b: str) -> float | None:
        """
        Estimate the length of a cable between two devices.

        Returns:
            Metres with slack, rounded up to half a metre; None when a place is not known.
        """
        path = self._path(a, b)
        return None if path is None else self._whole(path)

    def run(self, a: str, b: str) -> Run | None:
        """Return the parts of that length; None when a place is not known."""
        path = self._path(a, b)
        return None if path is None else Run(path[0], path[1], self._whole(path) - path[0] - path[1])

    def _whole(self, path: tuple[float, float]) -> float:
        return ceil((path[0] + path[1]) * (1 + self.cabling.slack) / STEP_M) * STEP_M

    def _path(self, a: str, b: str) -> tuple[float, float] | None:
        """Return metres up and down, and metres along the tray."""
        one, two = self.places.get(a), self.places.get(b)
        if one is None or two is None:
            return None
        return (self._within(one, two), 0.0) if one.rack == two.rack else self._between(one, two)

    def _within(self, one: Place, two: Place) -> float:
        return abs(one.rack_unit - two.rack_unit) * UNIT_M + 2 * RACK_SIDE_M

    def _between(self, one: Place, two: Place) -> tuple[float, float] | None:
        start, end = self.racks.get(one.rack), self.racks.get(two.rack)
        if start is None or end is None or start.hall != end.hall:
            return None
        if start.along_m is None or end.along_m is None:
            return None
        across = 0.0
        if start.row != end.row:
            if start.across_m is None or end.across_m is None:
                return None
            across = abs(start.across_m - end.across_m)
        return self._rise(start, one) + self._rise(end, two), abs(start.along_m - end.along_m) + across

    def _rise(self, rack: RackPosition, place: Place) -> float:
        return RACK_SIDE_M + (rack.height_u - place.rack_unit) * UNIT_M + self.cabling.tray_above_rack_m


def rack_positions(facility: FacilitySpec) -> dict[str, RackPosition]:
    """Return where each rack stands."""
    return {
        rack.name: RackPosition(
            rack.hall,
            rack.row,
            None if rack.spec.position_m is None else rack.spec.position_m + rack.index * rack.spec.pitch_m,
            rack.row_offset_m,
            rack.spec.height_u,
        )
        for rack in placed_racks(facility)
    }
