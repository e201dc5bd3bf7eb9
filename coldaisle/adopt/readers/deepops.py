"""
DeepOps' configuration (`config`): inventory, and the variables of the cluster in `group_vars`.

Its groups were renamed with Kubespray's: `kube-node` became `kube_node`, `k8s-cluster` became `k8s_cluster`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from coldaisle.adopt.facts import Collector, Reading
from coldaisle.adopt.readers.ansible_inventory import Inventory, parse, plain
from coldaisle.adopt.readers.parsing import Json, address_of, number_of, short, subnet_of, yaml_of

NODE_GROUPS = ("kube-node", "kube_node", "slurm-node")
OTHER_GROUPS = ("kube-master", "kube_control_plane", "etcd", "slurm-master", "nfs-server", "maas")
CLUSTER_FILES = ("k8s-cluster.yml", "k8s_cluster.yml", "all.yml")


def read(files: Mapping[str, str]) -> Reading:
    """Return what a configuration tells; files are by their path below `config`."""
    into = Collector("deepops")
    inventory = Inventory()
    variables: dict[str, Json] = {}
    for path, text in sorted(files.items()):
        if PurePath(path).name == "inventory":
            parse(text, path, into, inventory)
        elif "group_vars" in PurePath(path).parts and PurePath(path).name in CLUSTER_FILES:
            variables |= yaml_of(text, path, into)
    if not inventory.hosts and not into.problems:
        where = ", ".join(sorted(files)[:3]) or "deepops"
        into.unreadable(where, "there is no inventory with hosts", "give the folder config, with its file inventory")
    _cluster(variables, into)
    _hosts(inventory, into)
    return into.reading()


def _cluster(variables: Mapping[str, Json], into: Collector) -> None:
    servers = variables.get("ntp_servers") if isinstance(variables.get("ntp_servers"), list) else []
    into.add(
        "site",
        "",
        "group_vars",
        cluster_name=_cluster_name(variables),
        cluster_version=_release(plain(variables, "kube_version")),
        pod_cidr=subnet_of(plain(variables, "kube_pods_subnet")),
        service_cidr=subnet_of(plain(variables, "kube_service_addresses")),
        max_pods=number_of(plain(variables, "kubelet_max_pods")),
        timezone=plain(variables, "ntp_timezone"),
        ntp_servers=tuple(str(each) for each in servers or ()),
    )


def _cluster_name(variables: Mapping[str, Json]) -> str | None:
    """Return the cluster's name; Kubespray's default is its DNS domain, which names nothing."""
    name = plain(variables, "cluster_name")
    return None if name == "cluster.local" else name


def _release(version: str | None) -> str | None:
    return None if version is None else f"v{version.removeprefix('v')}"


def _hosts(inventory: Inventory, into: Collector) -> None:
    nodes = {host for group in NODE_GROUPS for host in inventory.members(group)}
    others = {host for group in OTHER_GROUPS for host in inventory.members(group)}
    for host, variables in inventory.hosts.items():
        name, domain = short(host)
        where = f"inventory {host}"
        into.add("site", "", where, domain=domain)
        into.add(
            "device",
            name,
            where,
            kind="node" if host in nodes else "device" if host in others else None,
            management_address=address_of(plain(variables, "ansible_host") or plain(variables, "ip")),
        )
