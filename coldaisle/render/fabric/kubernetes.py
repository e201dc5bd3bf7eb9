"""
Kubernetes' view of a fabric: labels of nodes by tier and NVLink domain, and Kueue's topologies over them.

The labels are those that NVIDIA's Topograph writes from its release 1.0 on, so that what reads them need not care who
wrote them: `fabric.topograph.run/tier-N`, counted from the leaves upwards, and `accelerator.topograph.run/domain`.
Source: Topograph, "Node Labels and Annotations"; Kueue, API kueue.x-k8s.io/v1beta2, Topology.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from coldaisle.plan import plan_hash
from coldaisle.plan.model import FabricPlan, SitePlan
from coldaisle.render.fabric.domains import Domain, nvlink_domains, tiers_of

TIER_LABEL = "fabric.topograph.run/tier-"
NVLINK_LABEL = "accelerator.topograph.run/domain"
HOST_LABEL = "kubernetes.io/hostname"
KUEUE = "kueue.x-k8s.io/v1beta2"

Manifest = dict[str, Any]


def kubernetes_files(plan: SitePlan, fabric: FabricPlan) -> Iterator[tuple[str, str]]:
    """Yield the nodes with their labels, for `kubectl apply --server-side`, and Kueue's topologies."""
    origin = f"# site {plan.name}, fabric {fabric.name}, plan {plan_hash(plan)}\n"
    labels = topology_labels(plan, fabric)
    nodes = [_node(node.name, dict(node.labels) | labels[node.name]) for node in plan.nodes]
    yield "node-labels.yaml", origin + _yaml([{"apiVersion": "v1", "kind": "List", "items": nodes}])
    yield "kueue-topology.yaml", origin + _yaml(_topologies(fabric, labels))


def topology_labels(plan: SitePlan, fabric: FabricPlan) -> dict[str, dict[str, str]]:
    """Return the topology labels of each node; one that hangs on no leaf of the fabric has none of its tiers."""
    found: dict[str, dict[str, str]] = {node.name: {} for node in plan.nodes}
    for at, tier in enumerate(tiers_of(fabric, found)):
        for domain in tier:
            for node in _nodes_below(domain, found, at):
                found[node][f"{TIER_LABEL}{at}"] = domain.name
    for name, nodes in nvlink_domains(plan).items():
        for node in nodes:
            found[node][NVLINK_LABEL] = name
    return found


def _nodes_below(domain: Domain, found: Mapping[str, Mapping[str, str]], at: int) -> list[str]:
    """Return the nodes of a domain: its own, or those that have one of its children as their label below."""
    if at == 0:
        return list(domain.nodes)
    below, children = f"{TIER_LABEL}{at - 1}", set(domain.children)
    return [node for node, labels in found.items() if labels.get(below) in children]


def _node(name: str, labels: Mapping[str, str]) -> Manifest:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": dict(sorted(labels.items()))}}


def _topologies(fabric: FabricPlan, labels: Mapping[str, Mapping[str, str]]) -> list[Manifest]:
    """Return one topology where NVLink domains lie within the lowest tier's, and two where they cross it."""
    used = {label for own in labels.values() for label in own}
    tiers = sorted((label for label in used if label.startswith(TIER_LABEL)), reverse=True)
    if NVLINK_LABEL not in used:
        return [_topology(f"{fabric.name}-fabric", tiers)]
    if _nested(labels):
        return [_topology(f"{fabric.name}-fabric", [*tiers, NVLINK_LABEL])]
    return [_topology(f"{fabric.name}-fabric", tiers), _topology("nvlink", [NVLINK_LABEL])]


def _nested(labels: Mapping[str, Mapping[str, str]]) -> bool:
    """Tell whether all nodes of each NVLink domain are in one domain of the lowest tier."""
    homes: dict[str, set[str | None]] = {}
    for own in labels.values():
        if NVLINK_LABEL in own:
            homes.setdefault(own[NVLINK_LABEL], set()).add(own.get(f"{TIER_LABEL}0"))
    return all(len(home) == 1 for home in homes.values())


def _topology(name: str, levels: list[str]) -> Manifest:
    spec = {"levels": [{"nodeLabel": label} for label in (*levels, HOST_LABEL)]}
    return {"apiVersion": KUEUE, "kind": "Topology", "metadata": {"name": name}, "spec": spec}


def _yaml(documents: list[Manifest]) -> str:
    return "---\n".join(yaml.safe_dump(document, sort_keys=False, allow_unicode=True) for document in documents)
