"""The way in: a node is reached while the driver of its RDMA ports is reloaded (G12)."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import catalog_place, grouped_by, named
from coldaisle.plan.model import SitePlan
from coldaisle.spec.catalog import Catalog, NicRole, System
from coldaisle.spec.sections import SiteSpec

RDMA_ROLES: tuple[NicRole, ...] = ("compute", "storage")


def check_management_driver(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The port that a node boots from and is managed over has another driver than its RDMA ports."""
    del plan
    pools = [name for name, pool in spec.node_pools.items() if pool.rdma is not None]
    for system, names in grouped_by(pools, lambda name: spec.node_pools[name].system).items():
        shared = _shared_driver(spec.catalog, spec.catalog.systems[system])
        if shared is None:
            continue
        port, driver = shared
        what = f"{system} is managed over {port}, which {driver} drives like the RDMA ports: a reload takes it down"
        have = f"{named(names, 'pool')}; adapters of {catalog_place(spec, 'systems', system, 'adapters')}"
        fix = "manage it over a port with another driver, or reload that one on drained nodes only, with a BMC at hand"
        loc = ("node_pools", names[0], "rdma")
        yield finding(spec, loc, "management-on-rdma-driver", what=what, have=have, fix=fix, severity="warning")


def _shared_driver(catalog: Catalog, system: System) -> tuple[str, str] | None:
    """Return the boot port and its driver where RDMA ports have the same; None where they differ or are not known."""
    port = system.boot_nic
    if port is None:
        return None
    driver = _driver(catalog, system, system.nics[port].role)
    rdma = {_driver(catalog, system, role) for role in RDMA_ROLES}
    return (port, driver) if driver is not None and driver in rdma else None


def _driver(catalog: Catalog, system: System, role: NicRole) -> str | None:
    adapter = system.adapters.get(role)
    return catalog.nics[adapter].driver if adapter is not None else None
