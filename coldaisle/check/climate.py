"""Checks of temperatures: air and coolant are within what each device may be given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import catalog_line
from coldaisle.plan.climate import inlet_range_c
from coldaisle.plan.cooling import coolant_loops
from coldaisle.plan.model import CoolingPlan, DevicePlacement, RackPlan, SitePlan
from coldaisle.spec.catalog import Switch as SwitchModel
from coldaisle.spec.catalog import System
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec


@dataclass(frozen=True, slots=True)
class _Model:
    """A model with the devices of it that one loop serves."""

    name: str
    entry: System | SwitchModel
    devices: tuple[str, ...]

    @property
    def air_share(self) -> float | None:
        """Return the part of its heat that goes into air; switches are cooled by air."""
        return self.entry.air_share if isinstance(self.entry, System) else 1.0


def _models(spec: SiteSpec, racks: Mapping[str, RackPlan], unit: CoolingPlan) -> list[_Model]:
    """Return the models whose air or coolant a loop gives, by name; a rear door's coolant reaches no device."""
    found: dict[str, list[DevicePlacement]] = {}
    for rack in (racks[name] for name in unit.racks):
        if unit.kind == "air" or unit.name in coolant_loops(rack):
            for device in rack.devices:
                found.setdefault(device.model, []).append(device)
    models = []
    for name, devices in sorted(found.items()):
        switch = devices[0].kind == "switch"
        entry = spec.catalog.switches[name] if switch else spec.catalog.systems[name]
        models.append(_Model(name, entry, tuple(device.device for device in devices)))
    return models


def check_temperatures(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Air and coolant are neither warmer nor colder than the devices that they reach may be given."""
    at = {cooling.name: at for at, cooling in enumerate(spec.facility.cooling)}
    racks = {rack.name: rack for rack in plan.facility.racks}
    for unit in plan.facility.cooling:
        if unit.supply_temp_c is None:
            continue
        loc: Loc = ("facility", "cooling", at[unit.name], "supply_temp_c")
        models = _models(spec, racks, unit)
        if unit.kind == "air":
            models = [model for model in models if model.air_share != 0]
            yield from _air(spec, unit.name, unit.supply_temp_c, models, loc)
        else:
            models = [model for model in models if model.air_share != 1]
            yield from _coolant(spec, unit.name, unit.supply_temp_c, models, loc)


def _air(spec: SiteSpec, name: str, supply_c: float, models: list[_Model], loc: Loc) -> Iterator[Finding]:
    unknown: list[str] = []
    for model in models:
        low, high = inlet_range_c(model.entry, spec.facility.altitude_m)
        if low is None or high is None:
            unknown.append(model.name)
        if (low is not None and supply_c < low) or (high is not None and supply_c > high):
            what = f"{name} gives air of {supply_c:g} °C, and {_said(model)} may be given {_range(low, high)}"
            have = f"{_limit(spec, model)}{_height(spec, model)}"
            fix = f"supply air of {_range(low, high)}, or place other equipment"
            yield finding(spec, loc, "inlet-temperature", what=what, have=have, fix=fix)
    if unknown:
        what = f"whether air of {supply_c:g} °C suits {', '.join(unknown)} is not known"
        fix = "add ashrae_class, or inlet_min_c and inlet_max_c, with its source to the catalog"
        yield finding(spec, loc, "inlet-unknown", what=what, fix=fix, severity="warning")


def _coolant(spec: SiteSpec, name: str, supply_c: float, models: list[_Model], loc: Loc) -> Iterator[Finding]:
    unknown = [model.name for model in models if model.entry.coolant_max_c is None]
    for model in models:
        warmest = model.entry.coolant_max_c
        if warmest is not None and supply_c > warmest:
            what = f"{name} gives coolant of {supply_c:g} °C, and {_said(model)} may be given {warmest:g} °C at most"
            have = catalog_line(spec, _kind(model), model.name, "coolant_max_c")
            fix = f"supply coolant of {warmest:g} °C or less, or place other equipment"
            yield finding(spec, loc, "coolant-temperature", what=what, have=have, fix=fix)
    if unknown:
        what = f"whether coolant of {supply_c:g} °C suits {', '.join(unknown)} is not known"
        fix = "add coolant_max_c with its source to the catalog"
        yield finding(spec, loc, "inlet-unknown", what=what, fix=fix, severity="warning")


def _said(model: _Model) -> str:
    first, last = model.devices[0], model.devices[-1]
    return f"{model.name} ({first})" if first == last else f"{model.name} ({first} … {last})"


def _kind(model: _Model) -> str:
    return "systems" if isinstance(model.entry, System) else "switches"


def _limit(spec: SiteSpec, model: _Model) -> str:
    """Return what a model's limits come from: its own figures, or its class."""
    printed = model.entry.inlet_min_c is not None or model.entry.inlet_max_c is not None
    figure = "inlet_max_c" if printed else "ashrae_class"
    line = catalog_line(spec, _kind(model), model.name, figure) or catalog_line(spec, _kind(model), model.name)
    of = "its own limits" if printed else f"ASHRAE class {model.entry.ashrae_class}"
    return f"{of} ({line})" if line else of


def _height(spec: SiteSpec, model: _Model) -> str:
    above = spec.facility.altitude_m
    return f" at {above:g} m above the sea" if above and model.entry.inlet_max_c is None else ""


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{high:.3g} °C at most" if low is None else f"{low:.3g} °C at least"
    return f"{low:.3g} to {high:.3g} °C"


CLIMATE_CHECKS = (check_temperatures,)
