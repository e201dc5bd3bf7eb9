"""
The plays of a site in order, each with the facts that it makes true on each of its hosts.

A fact is flat and small, so that a preview can show it, `read` can ask a host for it in one task, and drift can
compare it. What does not fit a fact (whole files) is carried by the digest of the host's variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from coldaisle.plan.kubelet import digest, kubelet_config_text
from coldaisle.plan.model import Facts, NodePlan, PlayPlan, PoolPlan, SitePlan

VERBS = ("bmc", "os", "rdma", "gpu", "kubernetes", "verify")
"""The playbooks that run on a pool, in their order."""


def plan_plays(plan: SitePlan) -> tuple[PlayPlan, ...]:
    """Return the plays of the site: first the provisioner's, then each pool's, each after the one before it."""
    pxe = _pxe_play(plan)
    plays = [pxe] if pxe else []
    for pool in plan.pools:
        plays += _pool_plays(plan, pool, first_after=("pxe",) if pxe else ())
    return tuple(plays)


def host_facts(plan: SitePlan, node: NodePlan) -> dict[str, Facts]:
    """Return, by playbook, the facts of one node; a playbook that the node does not need is absent."""
    pool = next(pool for pool in plan.pools if pool.name == node.pool)
    found = {verb: _FACTS[verb](plan, pool, node) for verb in VERBS}
    return {verb: facts for verb, facts in found.items() if facts}


def _pool_plays(plan: SitePlan, pool: PoolPlan, first_after: tuple[str, ...]) -> Iterator[PlayPlan]:
    facts = {node.name: host_facts(plan, node) for node in plan.nodes if node.pool == pool.name}
    after = first_after
    for verb in VERBS:
        hosts = {name: by_verb[verb] for name, by_verb in facts.items() if verb in by_verb}
        if hosts:
            name = f"{verb}-{pool.name}"
            yield PlayPlan(name=name, playbook=verb, facts=hosts, after=after)
            after = (name,)


def _pxe_play(plan: SitePlan) -> PlayPlan | None:
    provisioning = plan.provisioning
    if provisioning is None:
        return None
    facts: dict[str, str | int | bool] = {"service.coldaisle-dnsmasq": "active", "service.nginx": "active"}
    facts |= {f"boot.{node.name}": "allowed" for node in plan.nodes if node.boot == "network"}
    for image in provisioning.images:
        facts |= {f"image.{image.name}.{file}": sha256 for file, sha256 in sorted(image.sha256.items())}
    return PlayPlan(name="pxe", playbook="pxe", facts={provisioning.host: facts}, after=())


def _bmc_facts(_plan: SitePlan, _pool: PoolPlan, node: NodePlan) -> Facts:
    """
    Power, the device that comes first in the boot order, and the power limit of a pool with a cap.

    Only the first device is a fact: a BMC that knows boot overrides alone (IPMI, many Redfish ones) cannot tell more.
    Without a cap there is no such fact: a limit that somebody else has set is left alone.
    """
    if node.bmc is None:
        return {}
    facts: dict[str, str | int | bool] = {"power": "on"}
    if node.bmc.boot_order:
        facts["boot_order"] = node.bmc.boot_order[0]
    if node.power_limit_w is not None:
        facts["power_limit_w"] = node.power_limit_w
    return facts


def _os_facts(_plan: SitePlan, pool: PoolPlan, node: NodePlan) -> Facts:
    facts: dict[str, str | int | bool] = {
        "hostname": node.name,
        "timezone": pool.os.timezone,
        "time_sync": "enabled",
        f"user.{pool.os.admin_user}": "present",
    }
    for nic in node.nics:
        facts[f"mtu.{nic.name}"] = nic.mtu_bytes
        if nic.rail is not None and nic.address:
            facts[f"address.{nic.name}"] = nic.address
    facts |= {f"sysctl.{key}": value for key, value in sorted(pool.os.sysctl.items())}
    return facts | ({"hugepages_2mi": pool.os.hugepages_2mi} if pool.os.hugepages_2mi else {})


def _rdma_facts(_plan: SitePlan, pool: PoolPlan, node: NodePlan) -> Facts:
    if pool.rdma is None:
        return {}
    facts: dict[str, str | int | bool] = {"memlock": pool.rdma.memlock}
    for nic in (nic for nic in node.nics if nic.rail is not None):
        facts[f"vfs.{nic.name}"] = nic.vfs
        facts[f"rdma_device.{nic.name}"] = "active"
    return facts | ({"roce_dscp": pool.rdma.dscp} if pool.rdma.dscp is not None else {})


def _gpu_facts(_plan: SitePlan, pool: PoolPlan, _node: NodePlan) -> Facts:
    if pool.gpu is None:
        return {}
    facts: dict[str, str | int | bool] = {
        "gpu_count": pool.gpu.count,
        "driver": pool.gpu.driver_floor,
        "persistence": pool.gpu.persistence,
        "nouveau": "off",
        "imex_service": "off",
    }
    return facts | ({"fabric_state": pool.gpu.fabric_state} if pool.gpu.fabric_state else {})


def _kubernetes_facts(plan: SitePlan, _pool: PoolPlan, node: NodePlan) -> Facts:
    if plan.cluster is None:
        return {}
    facts: dict[str, str | int | bool] = {
        "kubelet_config": digest(kubelet_config_text(plan.cluster)),
        "service.kubelet": "active",
        "node_ready": True,
        "taints": ",".join(sorted(node.taints)),
    }
    return facts | {f"label.{key}": value for key, value in sorted(node.labels.items())}


def _verify_facts(plan: SitePlan, pool: PoolPlan, node: NodePlan) -> Facts:
    """One fact a layer that the node's users depend on; the playbook itself reads and compares all of them."""
    facts: dict[str, str | int | bool] = {"hostname": node.name}
    facts |= {"gpu_count": pool.gpu.count} if pool.gpu else {}
    return facts | ({"node_ready": True} if plan.cluster else {})


_FACTS: dict[str, Callable[[SitePlan, PoolPlan, NodePlan], Facts]] = {
    "bmc": _bmc_facts,
    "os": _os_facts,
    "rdma": _rdma_facts,
    "gpu": _gpu_facts,
    "kubernetes": _kubernetes_facts,
    "verify": _verify_facts,
}
