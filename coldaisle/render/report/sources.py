"""Where the report's numbers come from: the catalog's entries that the site uses, each figure with its document."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.places import catalog_line
from coldaisle.check.ratings import Kind
from coldaisle.plan.model import SitePlan
from coldaisle.render.catalog import Entry, entry_of
from coldaisle.spec.sections import SiteSpec

PLANT: tuple[Kind, ...] = ("pdus", "ups", "cdus", "rear_doors")
"""Kinds of the catalog's power and cooling."""


def sources(spec: SiteSpec, plan: SitePlan) -> tuple[Entry, ...]:
    """Return the entries of the catalog that the plan uses, kind by kind and by name."""
    catalog = spec.catalog

    def where(*loc: str) -> str:
        return catalog_line(spec, *loc)

    used = set(_used(plan))
    found = [("systems", name, catalog.systems[name]) for name in sorted(used & catalog.systems.keys())]
    gpus = {model.gpus.model for _, _, model in found if model.gpus}
    entries = [entry_of(kind, name, model, where) for kind, name, model in found]
    entries += [
        entry_of("switches", name, catalog.switches[name], where) for name in sorted(used & catalog.switches.keys())
    ]
    for plant in PLANT:
        models = getattr(catalog, plant)
        entries += [entry_of(plant, name, models[name], where) for name in sorted(used & models.keys())]
    entries += [entry_of("gpus", name, catalog.gpus[name], where) for name in sorted(gpus & catalog.gpus.keys())]
    return tuple(entries)


def _used(plan: SitePlan) -> Iterator[str]:
    for rack in plan.facility.racks:
        yield from (device.model for device in rack.devices)
        yield from (feed.pdu for feed in rack.feeds if feed.pdu)
        yield from filter(None, [rack.door_model])
    yield from (part.model for part in plan.facility.upstream if part.model)
    yield from (loop.model for loop in plan.facility.cooling if loop.model)
    yield from (node.system for node in plan.nodes)
    for fabric in plan.fabrics.values():
        yield from (switch.model for switch in fabric.switches)
