"""Pictures of a site as self-contained SVG: fixed coordinates, the same to the byte for the same plan."""

from __future__ import annotations

from coldaisle.plan.model import SitePlan
from coldaisle.render.pictures.elevation import elevation, elevations
from coldaisle.render.pictures.hall import hall_map
from coldaisle.render.pictures.one_line import one_line
from coldaisle.spec.sections import SiteSpec


def pictures(spec: SiteSpec, plan: SitePlan) -> dict[str, str]:
    """Return every picture of a site, as SVG by its name: the power chain, each hall, each few racks."""
    found = {"one-line diagram": one_line(plan)} if plan.facility.upstream else {}
    halls = dict.fromkeys(rack.hall for rack in plan.facility.racks)
    found |= {f"map of {hall}": hall_map(spec, plan, hall) for hall in sorted(halls)}
    return found | {f"front of {name}": picture for name, picture in elevations(plan)}


__all__ = ["elevation", "elevations", "hall_map", "one_line", "pictures"]
