"""Small sites for tests of power: one kind of system with a few supplies, draws by rule, and a chain of any shape."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from coldaisle.plan.facility import plan_facility
from coldaisle.plan.model import FacilityPlan
from coldaisle.spec.catalog import Gpu, Psus, System, SystemGpus
from coldaisle.spec.sections import SiteSpec
from tests.unit.floor_sites import facility, site

MODELS = {
    name: System(
        vendor="t", description="t", height_u=1, air_share=1.0, max_power_w=1000,
        psus=Psus(count=count, needed=max(1, count // 2)) if count else None, source="t", architecture="x86_64",
        firmware="uefi", gpus=SystemGpus(model="gpu", count=8),
    )
    for name, count in (("one", 1), ("two", 2), ("three", 3), ("unknown", 0))
}  # fmt: skip
GPUS = {"gpu": Gpu(vendor="t", module_power_w=100, source="t"), "blank": Gpu(vendor="t", source="t")}


def part(name: str, fed_by: str | None = None, kind: str = "ups", **keys: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a part of a chain."""
    return {"name": name, "kind": kind, "capacity_w": 1e6, "fed_by": fed_by, **keys}


def racks_on(*upstreams: list[str], **feed: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Return racks r01, r02 … whose feeds a, b … hang on the named parts."""
    circuit = {"voltage_v": 230, "voltage_reference": "line-to-neutral", "phases": 3, "breaker_a": 63, **feed}
    return [
        {
            "name": f"r{at:02}",
            "power_feeds": [
                {**circuit, "name": name, "upstream": above} for name, above in zip("abcd", names, strict=False)
            ],
        }
        for at, names in enumerate(upstreams, start=1)
    ]


def powered(
    racks: list[dict[str, Any]],
    chain: list[dict[str, Any]],
    nodes: int = 1,
    system: str = "two",
    **power: Any,  # noqa: ANN401 - YAML holds anything
) -> SiteSpec:
    """Return a site with so many nodes in each rack; what is left over is for `facility.power`."""
    cap = {"power_cap": power.pop("power_cap")} if "power_cap" in power else {}
    pools: dict[str, Any] = {}
    for rack in racks:
        lines = {f"{rack['name']}-n{at + 1}": {"rack": rack["name"], "rack_unit": at + 1} for at in range(nodes)}
        pools[f"p-{rack['name']}"] = {"system": system, "role": "training", "nodes": lines, **cap}
    spec = site(facility=facility(racks, power={"derating": 1.0, "upstream": chain, **power}), node_pools=pools)
    return replace(spec, catalog=spec.catalog.model_copy(update={"systems": MODELS, "gpus": GPUS}))


def planned(*arguments: Any, **keys: Any) -> FacilityPlan:  # noqa: ANN401
    """Return the facility's plan of a site that `powered` gives."""
    return plan_facility(powered(*arguments, **keys), {})
