"""Check that the figures which the ledgers need are known."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding
from coldaisle.check.places import catalog_place, named
from coldaisle.check.power.supplies import psus_of
from coldaisle.plan.model import DevicePlacement, RackPlan, SitePlan
from coldaisle.spec.sections import SiteSpec


def check_missing_figures(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each device that stands in a rack has the figures that the ledgers need."""
    racks: dict[tuple[str, str, str], list[str]] = {}
    for rack in plan.facility.racks:
        for device in rack.devices:
            for figure in _missing(spec, rack, device):
                racks.setdefault((device.kind, device.model, figure), []).append(rack.name)
    for (kind, model, figure), names in racks.items():
        entry = ("switches" if kind == "switch" else "systems", model)
        budget = {"switch": "the fabric's tier", "service": "the device"}.get(kind)
        other = f", or give max_power_w of {budget}" if budget and figure == "max_power_w" else ""
        yield Finding(
            check="missing-figure",
            where=catalog_place(spec, *entry),
            path=f"{entry[0]}.{model}",
            what=f"the catalog has no {figure} of {model}, needed in {named(list(dict.fromkeys(names)))}",
            have="",
            fix=f"add {figure} with its source{other}",
        )


def _missing(spec: SiteSpec, rack: RackPlan, device: DevicePlacement) -> Iterator[str]:
    if device.max_power_w is None:
        yield "max_power_w"
    if len(rack.feeds) > 1 and psus_of(spec, device) is None:
        yield "psus"
    if device.kind != "switch":
        system = spec.catalog.systems[device.model]
        yield from (name for name in ("height_u", "air_share") if getattr(system, name) is None)
