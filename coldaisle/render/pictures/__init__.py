"""Pictures of a site as self-contained SVG: fixed coordinates, the same to the byte for the same plan."""

from __future__ import annotations

from coldaisle.plan.model import SitePlan
from coldaisle.render.pictures.coolant import coolant_diagram
from coldaisle.render.pictures.elevation import elevation, elevations
from coldaisle.render.pictures.fabric import fabric_diagram
from coldaisle.render.pictures.hall import hall_map
from coldaisle.render.pictures.one_line import one_line
from coldaisle.render.pictures.rear import rear_elevation, rear_elevations
from coldaisle.render.pictures.row import row_map, row_maps
from coldaisle.spec.sections import SiteSpec


def pictures(spec: SiteSpec, plan: SitePlan) -> dict[str, str]:
    """Return every picture of a site, as SVG by its name: power, cooling, fabrics, halls, rows, and each few racks."""
    found = {"one-line diagram": one_line(plan)} if plan.facility.upstream else {}
    if plan.facility.cooling:
        found["coolant diagram"] = coolant_diagram(plan)
    found |= {f"fabric {name}": fabric_diagram(fabric) for name, fabric in plan.fabrics.items()}
    halls = dict.fromkeys(rack.hall for rack in plan.facility.racks)
    found |= {f"map of {hall}": hall_map(spec, plan, hall) for hall in sorted(halls)}
    found |= {f"map of {name}": picture for name, picture in row_maps(spec, plan)}
    found |= {f"front of {name}": picture for name, picture in elevations(plan)}
    return found | {f"rear of {name}": picture for name, picture in rear_elevations(plan)}


__all__ = [
    "coolant_diagram", "elevation", "elevations", "fabric_diagram", "hall_map", "one_line", "pictures",
    "rear_elevation", "rear_elevations", "row_map", "row_maps",
]  # fmt: skip
