"""
The plays of a site in order, each with the facts that it makes true on each of its hosts.

A fact is flat and small, so that a preview can show it, `read` can ask a host for it in one task, and drift can
compare it. What does not fit a fact (whole files) is carried by the digest of the host's variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from coldaisle.plan.acceptance import ACCEPT, accept_play
from coldaisle.plan.host_facts import gpu_facts, os_facts, rdma_facts
from coldaisle.plan.kubelet import digest, kubelet_config_text
from coldaisle.plan.model import FabricPlan, Facts, NodePlan, PlayPlan, PoolPlan, ProvisioningPlan, SitePlan, SwitchPlan
from coldaisle.spec.journal import UNTOUCHED
from coldaisle.words import LIFE

DEFAULT_MTU_BYTES = 1500
"""What every Ethernet port has of itself (IEEE 802.3)."""

API_SYSTEMS = frozenset({"cumulus", "eos"})
"""Operating systems of switches that are configured over HTTPS, from the deploy host."""

VERBS = ("bmc_firmware", "bmc", "os", "rdma", "gpu", "kubernetes", "verify")
"""The playbooks that make a pool's nodes as planned, in their order."""

PLAYBOOKS = (*VERBS, ACCEPT)
"""Those that run on a pool: what has been made is then accepted, where the pool asks for it."""


def plan_plays(plan: SitePlan) -> tuple[PlayPlan, ...]:
    """Return the plays of the site: the switches' and the provisioner's, then each pool's, one after the other."""
    plays = [*_fabric_plays(plan), *_pxe_play(plan)]
    first_after = tuple(play.name for play in plays)
    for pool in plan.pools:
        plays += _pool_plays(plan, pool, first_after)
    return tuple(plays)


def configured_switches(fabric: FabricPlan) -> list[SwitchPlan]:
    """Return the switches of a fabric that a playbook configures."""
    return [switch for switch in fabric.switches if why_not_configured(fabric, switch) is None]


def why_not_configured(fabric: FabricPlan, switch: SwitchPlan) -> str | None:
    """Return why no playbook configures a switch; None where one does. FRR needs no access but the site's SSH key."""
    system, access = switch.network_os, fabric.switch_access
    if switch.management_address is None:
        return "it has no management address"
    if system == "frr":
        return None if switch.asn is not None else "it does not route"
    if access is None:
        return "the site does not say how it is reached"
    if system == "sonic":
        return _why_no_sonic(fabric, switch)
    if system not in API_SYSTEMS:
        return f"no playbook configures {system}" if system else f"no catalog entry says what {switch.model} runs"
    return None if access.credentials else f"{system} is configured over HTTPS, and there are no credentials"


def _why_no_sonic(fabric: FabricPlan, switch: SwitchPlan) -> str | None:
    """Return why there is no configuration of SONiC for a switch: the renderer's own two reasons."""
    if any(not port.chip_lanes for port in fabric.ports.get(switch.role, ())):
        return f"the catalog does not say which lanes of its chip the ports of {switch.model} have"
    ends = {member.device for bond in fabric.bonds if bond.multihomed for member in bond.members}
    return "bonds over several leaves are not written for SONiC" if switch.name in ends else None


def _fabric_plays(plan: SitePlan) -> Iterator[PlayPlan]:
    """Yield a play for each fabric with switches to configure; their lines are rendered for them, the rest is facts."""
    for fabric in plan.fabrics.values():
        facts: dict[str, dict[str, str | int | bool]] = {switch.name: {} for switch in configured_switches(fabric)}
        # FRR sets no MTU; every other system has it in its configuration.
        mtu_bytes = {switch.name: switch.mtu_bytes for switch in fabric.switches if switch.network_os == "frr"}
        ends = (end for cable in fabric.cables for end in (cable.a, cable.b))
        for end in (end for end in ends if end.device in facts and end.device in mtu_bytes):
            facts[end.device][f"mtu.{end.port}"] = mtu_bytes[end.device] or DEFAULT_MTU_BYTES
        if facts:
            name = f"fabric-{fabric.name}"
            yield PlayPlan(name=name, playbook="fabric", facts=facts, after=(), rollout=fabric.rollout)


def host_facts(plan: SitePlan, node: NodePlan) -> dict[str, Facts]:
    """Return, by playbook, the facts of one node; a playbook that the node does not need is absent."""
    pool = next(pool for pool in plan.pools if pool.name == node.pool)
    found = {verb: _FACTS[verb](plan, pool, node) for verb in VERBS}
    return {verb: facts for verb, facts in found.items() if facts}


def _pool_plays(plan: SitePlan, pool: PoolPlan, first_after: tuple[str, ...]) -> Iterator[PlayPlan]:
    facts = {node.name: _facts_or_state(plan, node) for node in plan.nodes if node.pool == pool.name}
    after = first_after
    for verb in VERBS:
        hosts = {name: by_verb[verb] for name, by_verb in facts.items() if verb in by_verb}
        if hosts:
            name = f"{verb}-{pool.name}"
            rollout = None if verb == "verify" else pool.rollout  # it changes nothing
            yield PlayPlan(name=name, playbook=verb, facts=hosts, after=after, rollout=rollout)
            after = (name,)
    accept = accept_play(plan, pool, after)
    if accept is not None:
        yield accept


def _facts_or_state(plan: SitePlan, node: NodePlan) -> dict[str, Facts]:
    """
    Return, by playbook, the facts of a node, or its state where no play may touch it.

    It stays in its plays: a host that left one would be undone with it, and its record would be gone when it is back.
    """
    found = host_facts(plan, node)
    return {verb: {LIFE: str(node.state)} for verb in found} if node.state in UNTOUCHED else found


def _pxe_play(plan: SitePlan) -> Iterator[PlayPlan]:
    provisioning = plan.provisioning
    if provisioning is None:
        return
    facts: dict[str, str | int | bool] = {"service.coldaisle-dnsmasq": "active", "service.nginx": "active"}
    facts |= {name: "none" for name in [foreign_dhcp_fact(provisioning)] if name}
    facts |= {f"boot.{node.name}": "allowed" for node in plan.nodes if node.boot == "network"}
    for image in provisioning.images:
        facts |= {f"image.{image.name}.{file}": sha256 for file, sha256 in sorted(image.sha256.items())}
    yield PlayPlan(name="pxe", playbook="pxe", facts={provisioning.host: facts}, after=())


def foreign_dhcp_fact(provisioning: ProvisioningPlan) -> str | None:
    """
    Return the provisioner's fact of other DHCP servers on the nodes' network; None where it cannot ask there.

    Behind a router that relays there is another network than the provisioner's.
    """
    return None if provisioning.relayed else f"foreign_dhcp.{provisioning.interface}"


def _bmc_facts(_plan: SitePlan, _pool: PoolPlan, node: NodePlan) -> Facts:
    """
    Power, first boot device, the power limit of a pool with a cap, where events go, and the pool's settings.

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
    if node.bmc.event_destination is not None:
        facts["event_destination"] = node.bmc.event_destination
    return facts | dict(node.bmc.settings)


def _firmware_facts(_plan: SitePlan, pool: PoolPlan, node: NodePlan) -> Facts:
    return {f"firmware.{item.name}": item.version for item in pool.firmware} if node.bmc else {}


def _kubernetes_facts(plan: SitePlan, _pool: PoolPlan, node: NodePlan) -> Facts:
    if plan.cluster is None:
        return {}
    facts: dict[str, str | int | bool] = {
        "kubelet_config": digest(kubelet_config_text(plan.cluster)),
        "service.kubelet": "active",
        "node_ready": True,
        "taints": ",".join(sorted(node.taints)),
    }
    facts |= {"kubelet_serving": "signed"} if plan.cluster.kubelet_serving == "signed" else {}
    return facts | {f"label.{key}": value for key, value in sorted(node.labels.items())}


def _verify_facts(plan: SitePlan, pool: PoolPlan, node: NodePlan) -> Facts:
    """One fact a layer that the node's users depend on; the playbook itself reads and compares all of them."""
    facts: dict[str, str | int | bool] = {"hostname": node.name}
    facts |= {"gpu_count": pool.gpu.count} if pool.gpu else {}
    return facts | ({"node_ready": True} if plan.cluster else {})


_FACTS: dict[str, Callable[[SitePlan, PoolPlan, NodePlan], Facts]] = {
    "bmc_firmware": _firmware_facts,
    "bmc": _bmc_facts,
    "os": os_facts,
    "rdma": rdma_facts,
    "gpu": gpu_facts,
    "kubernetes": _kubernetes_facts,
    "verify": _verify_facts,
}
