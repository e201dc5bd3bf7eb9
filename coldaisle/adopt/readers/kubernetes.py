"""A running cluster: what `kubectl get nodes -o json` prints."""

from __future__ import annotations

from collections.abc import Mapping

from coldaisle.adopt.facts import Collector, Fact, Reading, Subject
from coldaisle.adopt.readers.parsing import Json, address_of, at, json_of, maps, number_of, short, text_of
from coldaisle.plan.nodes import POOL_LABEL, RACK_LABEL, REGION_LABEL, ROLE_LABEL, ZONE_LABEL

ARCHITECTURES: Mapping[str, str] = {"amd64": "x86_64", "arm64": "aarch64"}
CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
DRIVER = "nvidia.com/cuda.driver-version.full"
"""GPU feature discovery's label with the driver's whole version."""
TRANSIENT_TAINTS = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Taints that controllers set and take away by a node's condition."""


def read(files: Mapping[str, str]) -> Reading:
    """Return what the cluster tells of its nodes."""
    into = Collector("kubernetes")
    for path, text in sorted(files.items()):
        value = json_of(text, path, into)
        if value is None:
            continue
        if at(value, "kind") == "HelmReleases":
            _releases(value, path, into)
            continue
        items = list(maps(value.get("items"))) if isinstance(value, dict) else []
        nodes = [item for item in items if item.get("kind", "Node") == "Node"]
        if not nodes:
            into.unreadable(path, "there are no nodes in it", "give what `kubectl get nodes -o json` prints")
        for node in nodes:
            _node(node, path, into)
    return into.reading()


def _node(node: dict[str, Json], path: str, into: Collector) -> None:
    full = text_of(at(node, "metadata", "name"))
    if full is None:
        return
    name, domain = short(full)
    where = f"{path} {full}"
    labels = at(node, "metadata", "labels") or {}
    if any(label in labels for label in CONTROL_PLANE):
        into.notes.append(f"{where}: a node of the control plane, which is there before the site's nodes are")
        return
    addresses = {str(each.get("type")): each.get("address") for each in maps(at(node, "status", "addresses"))}
    info = at(node, "status", "nodeInfo")
    into.add("site", "", where, domain=domain, zone=labels.get(ZONE_LABEL), region=labels.get(REGION_LABEL))
    into.add(
        "site", "", where, cluster_version=_version(info), max_pods=number_of(at(node, "status", "capacity", "pods"))
    )
    into.add(
        "device",
        name,
        where,
        kind="node",
        management_address=address_of(addresses.get("InternalIP")),
        architecture=ARCHITECTURES.get(str(at(info, "architecture"))),
        kernel=text_of(at(info, "kernelVersion")),
        os=text_of(at(info, "osImage")),
        kubelet=text_of(at(info, "kubeletVersion")),
        runtime=text_of(at(info, "containerRuntimeVersion")),
        driver=text_of(labels.get(DRIVER)),
        gpu_product=text_of(labels.get("nvidia.com/gpu.product")),
        pool=text_of(labels.get(POOL_LABEL)),
        pool_role=text_of(labels.get(ROLE_LABEL)),
        rack=text_of(labels.get(RACK_LABEL)),
        taints=_taints(node),
    )
    subject = Subject("device", name)
    into.facts += [
        Fact(subject, f"label {key}", str(value), "kubernetes", where) for key, value in sorted(labels.items())
    ]


def _releases(value: Json, path: str, into: Collector) -> None:
    """Keep what Helm installed, by chart with its version and namespace, as `coldaisle adopt --live` asks it."""
    found = (
        f"{each.get('chart')} {each.get('version', '')} in {each.get('namespace', 'default')}"
        for each in maps(at(value, "releases"))
    )
    into.add("site", "", path, operators=tuple(sorted(found)))


def _version(info: Json) -> str | None:
    return text_of(at(info, "kubeletVersion"))


def _taints(node: dict[str, Json]) -> tuple[str, ...]:
    """Return taints as a spec writes them; `none` says that there are none, which is a fact too."""
    found = [
        f"{taint.get('key')}={taint.get('value', '')}:{taint.get('effect')}"
        for taint in maps(at(node, "spec", "taints"))
        if not str(taint.get("key")).startswith(TRANSIENT_TAINTS)
    ]
    return tuple(sorted(found)) or ("none",)
