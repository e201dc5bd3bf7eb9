"""The whole plan of a site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coldaisle.plan.model.cluster import AutoscalerPlan, ClusterPlan, EndpointPlan, GpuStackPlan
from coldaisle.plan.model.execution import ExecutionPlan
from coldaisle.plan.model.fabrics import FabricPlan
from coldaisle.plan.model.facility import FacilityPlan
from coldaisle.plan.model.nodes import NodePlan, PoolPlan, ProvisioningPlan
from coldaisle.plan.model.rollout import RolloutPlan
from coldaisle.plan.model.survival import LossPlan

SCHEMA_VERSION = "1"
"""Version of the JSON form of a plan (docs/plan-json.md); raised when a key changes its meaning or goes away."""

Facts = Mapping[str, str | int | bool]
"""What a host must look like after one playbook: a flat map of fact name to planned value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayPlan:
    """
    A playbook applied to some hosts: one resource of the stack.

    `facts` is, for each host, what the playbook makes true and drift compares; `after` names plays that come first.
    A change of hosts that were set up before goes through them as `rollout` says; without one, at once.
    """

    name: str
    playbook: str
    facts: Mapping[str, Facts]
    after: tuple[str, ...]
    rollout: RolloutPlan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePlan:
    """
    The whole plan of a site. Sections that the site does not use are None or empty.

    `survival` tells for each fabric what the worst loss of one part does. `admin_private_key_file` is the SSH key that
    the deploy host logs in with (a path, never the key). `retired` are nodes that keep their names, places and
    addresses and are in nothing else: no play, no boot services, no cluster. `execution` says which machines run
    playbooks for which hosts; None leaves all of them to the runner.
    """

    name: str
    domain: str
    facility: FacilityPlan
    fabrics: Mapping[str, FabricPlan]
    nodes: tuple[NodePlan, ...]
    pools: tuple[PoolPlan, ...]
    provisioning: ProvisioningPlan | None
    cluster: ClusterPlan | None
    gpu_stack: GpuStackPlan | None
    endpoints: tuple[EndpointPlan, ...]
    autoscaler: AutoscalerPlan | None
    plays: tuple[PlayPlan, ...]
    admin_private_key_file: str | None = None
    survival: tuple[LossPlan, ...] = ()
    retired: tuple[NodePlan, ...] = ()
    execution: ExecutionPlan | None = None
    schema_version: str = field(default=SCHEMA_VERSION)
