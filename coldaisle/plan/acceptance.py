"""
What an acceptance is about: the parts and versions of a node that a result stands or falls with.

A result is worth something as long as these are what they were. They are facts of the play `accept`, one an aspect, so
that a preview names what makes a node be tested again: other serials, another driver, other firmware, another cable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from coldaisle.plan.host_facts import gpu_facts, os_facts
from coldaisle.plan.kubelet import digest
from coldaisle.plan.model import Facts, NodePlan, PlayPlan, PoolPlan, RolloutPlan, SitePlan
from coldaisle.spec.journal import UNTOUCHED
from coldaisle.words import LIFE

ACCEPT = "accept"
ACCEPTED, ACCEPTED_FOR = "accepted", "accepted_for"
"""Facts of the play: the phase that a node has passed, and by aspect what it has passed it with."""

UNACCEPTED_TAINT = "coldaisle.dev/unaccepted"  # the collection's module_utils/node.py has it too
"""What a node of such a pool joins the cluster with, and keeps until it is accepted."""

Aspects = dict[str, str]
"""By fact (`accepted_for.driver`), what a result is about: a short text where there is one, else a digest."""


def aspects_of(plan: SitePlan, pools: Iterable[PoolPlan]) -> dict[str, Aspects]:
    """Return the aspects of every node of some pools."""
    by_name = {pool.name: pool for pool in pools}
    cables = _cables(plan)
    nodes = (node for node in plan.nodes if node.pool in by_name)
    return {node.name: _aspects(plan, by_name[node.pool], node, cables.get(node.name, [])) for node in nodes}


def _aspects(plan: SitePlan, pool: PoolPlan, node: NodePlan, cables: list[str]) -> Aspects:
    found = {
        "hardware": _hardware(node),
        "driver": _text(_named(gpu_facts(plan, pool, node), ("package.", "driver", "amd_driver"))),
        "kernel": _text(_named(os_facts(plan, pool, node), ("kernel_release", "cmdline"))),
        "firmware": _text({item.name: item.version for item in pool.firmware}),
        "cables": digest("; ".join(sorted(cables))) if cables else "",
    }
    return {f"{ACCEPTED_FOR}.{aspect}": text for aspect, text in found.items() if text}


def accept_play(plan: SitePlan, pool: PoolPlan, after: tuple[str, ...]) -> PlayPlan | None:
    """Return the play that accepts a pool's nodes after all others; None where `up` does not accept them."""
    if pool.acceptance is None or not pool.nodes:
        return None
    aspects = aspects_of(plan, [pool])
    facts: dict[str, Facts] = {
        node.name: {LIFE: str(node.state)}
        if node.state in UNTOUCHED
        else {ACCEPTED: pool.acceptance.phase, **aspects[node.name]}
        for node in plan.nodes
        if node.pool == pool.name
    }
    name = f"{ACCEPT}-{pool.name}"
    return PlayPlan(name=name, playbook=ACCEPT, facts=facts, after=after, rollout=_policy(pool.rollout))


def _policy(policy: RolloutPlan | None) -> RolloutPlan | None:
    """Return the policy of nodes that are accepted again: a test needs no soak, and has nothing to take back."""
    if policy is None:
        return None
    return replace(policy, canary_soak_s=0, soak_s=0, on_regression="stop", acceptance=None, telemetry=())


def _hardware(node: NodePlan) -> str:
    parts = node.parts
    serials = {"serial": parts.serial, "gpus": dict(parts.gpus), "dimms": dict(parts.dimms)} if parts else {}
    macs = {nic.name: nic.mac for nic in node.nics if nic.mac}
    disks = [str(disk) for disk in node.disks]
    return digest(repr([node.system, node.gpus, sorted(serials.items()), sorted(macs.items()), disks]))


def _cables(plan: SitePlan) -> Mapping[str, list[str]]:
    """Return, by node, its cables with both ends."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for cable in (cable for fabric in plan.fabrics.values() for cable in fabric.cables):
        text = f"{cable.a.device}:{cable.a.port} {cable.b.device}:{cable.b.port}"
        found[cable.a.device].append(text)
        found[cable.b.device].append(text)
    return found


def _named(facts: Facts, prefixes: tuple[str, ...]) -> Facts:
    return {name: value for name, value in facts.items() if name.startswith(prefixes)}


def _text(facts: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(facts.items()))
