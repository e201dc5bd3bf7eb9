"""Which components each layer of a site is made of, in the order in which layers stand on each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldaisle.plan.json import plan_hash
from components.autoscaling import Autoscaler
from components.cluster import Cluster
from components.fabric import Fabric
from components.facility import CoolingLoop, PowerFeed, Rack
from components.metal import BringUp, NodePool
from components.platform import GpuStack
from components.serving import ModelEndpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pulumi import Resource, ResourceOptions

    from coldaisle.plan.model import SitePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """
    A plan with its hash, and the folder of the spec that it follows from, relative to the project's.

    `on_delete` says what becomes of hosts whose plays are destroyed (components/play.py). With `adopt`, hosts that are
    as planned already are taken over without a run.
    """

    plan: SitePlan
    folder: Path
    plan_hash: str
    on_delete: str = "undo"
    adopt: bool = False

    @classmethod
    def of(cls, plan: SitePlan, folder: Path, on_delete: str = "undo", *, adopt: bool = False) -> Site:
        """Take a plan, and hash it once."""
        return cls(plan=plan, folder=folder, plan_hash=plan_hash(plan), on_delete=on_delete, adopt=adopt)


def _facility(site: Site, opts: ResourceOptions) -> Iterator[Resource]:
    facility = site.plan.facility
    yield from (PowerFeed(source.name, source, opts) for source in facility.upstream)
    yield from (CoolingLoop(loop.name, loop, opts) for loop in facility.cooling)
    yield from (Rack(rack.name, rack, opts) for rack in facility.racks)


def _fabric(site: Site, opts: ResourceOptions) -> Iterator[Resource]:
    yield from (Fabric(name, fabric, opts) for name, fabric in site.plan.fabrics.items())


def _metal(site: Site, opts: ResourceOptions) -> Iterator[Resource]:
    yield from (NodePool(pool.name, pool, opts) for pool in site.plan.pools)
    if site.plan.plays:
        yield BringUp(site.plan.name, site.plan, site.folder, site.on_delete, opts, adopt=site.adopt)


def _cluster(site: Site, opts: ResourceOptions) -> Iterator[Resource]:
    if site.plan.cluster:
        yield Cluster(site.plan.cluster.name, site.plan.cluster, opts)


def _platform(site: Site, opts: ResourceOptions) -> Iterator[Resource]:
    if site.plan.gpu_stack:
        yield GpuStack("gpu-stack", site.plan.gpu_stack, opts)


def _serving(site: Site, opts: ResourceOptions) -> Iterator[Resource]:
    yield from (ModelEndpoint(endpoint.name, endpoint, opts) for endpoint in site.plan.endpoints)


def _autoscaling(site: Site, opts: ResourceOptions) -> Iterator[Resource]:
    if site.plan.autoscaler:
        yield Autoscaler("autoscaler", site.plan.autoscaler, opts)


BUILD: Mapping[str, Callable[[Site, ResourceOptions], Iterator[Resource]]] = {
    "facility": _facility,
    "fabric": _fabric,
    "metal": _metal,
    "cluster": _cluster,
    "platform": _platform,
    "serving": _serving,
    "autoscaling": _autoscaling,
}
"""A stack may hold some of the layers, and other stacks the rest."""

IN_CLUSTER = frozenset({"cluster", "platform", "serving", "autoscaling"})
"""The layers that talk to Kubernetes."""
