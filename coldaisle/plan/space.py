"""What a rack takes of its place: free units, weight on the floor, and which way its devices move air."""

from __future__ import annotations

from collections.abc import Iterable

from coldaisle.plan.model import DevicePlacement
from coldaisle.spec.catalog import Airflow, Fit
from coldaisle.spec.facility import FacilitySpec, PlacedRack

MM_PER_M = 1000.0


def units_of(device: DevicePlacement) -> range:
    """Return the rack units that a device takes."""
    return range(device.rack_unit, device.rack_unit + device.height_u)


def blank_u(height_u: int, devices: Iterable[DevicePlacement]) -> int:
    """Return how many units of a rack are free: each needs a blanking panel, or air returns through it."""
    taken = {unit for device in devices for unit in units_of(device)}
    return height_u - len(taken.intersection(range(1, height_u + 1)))


def floor_limit_kg_m2(rack: PlacedRack) -> float | None:
    """Return what the floor below a rack carries, or None where nothing says it."""
    if rack.spec.floor_limit_kg_m2 is not None:
        return rack.spec.floor_limit_kg_m2
    return rack.floor.limit_kg_m2 if rack.floor else None


def floor_area_m2(rack: PlacedRack) -> float | None:
    """Return the floor that carries a rack: its width, by its depth and the share of the aisles that the hall gives."""
    if rack.spec.depth_mm is None:
        return None
    return rack.spec.pitch_m * (rack.spec.depth_mm / MM_PER_M + (rack.floor.aisle_m if rack.floor else 0.0))


def floor_kg_m2(rack: PlacedRack, devices_kg: float | None) -> float | None:
    """Return the weight of rack and devices on each square metre of the floor that carries them."""
    area_m2, empty_kg = floor_area_m2(rack), rack.spec.empty_weight_kg
    if area_m2 is None or empty_kg is None or devices_kg is None:
        return None
    return (empty_kg + devices_kg) / area_m2


def airflow_of(facility: FacilitySpec, model: str, device: Fit) -> Airflow | None:
    """Return which way a model moves air as the site mounts it: what the site says goes before the catalog."""
    return facility.airflow.get(model, device.airflow)
