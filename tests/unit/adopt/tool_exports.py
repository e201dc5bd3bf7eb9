"""
A planned site as other tools would tell of it.

Forms are those of the tools' documentation: MAAS' CLI reference (`machines read`, `machines power-parameters`),
`kubectl get nodes -o json` (Kubernetes API reference, Node v1) with labels of GPU feature discovery, Kayobe's network
configuration (`networks.yml`, `network-allocation.yml`, `inventory/hosts`), DeepOps' `config.example`, DMTF's Redfish
mockups (DSP2043), and lldpd's `lldpctl -f json`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import yaml

from coldaisle.plan.model import NodePlan, SitePlan
from coldaisle.spec import SiteSpec

KERNEL, DRIVER = "6.1.0-30-amd64", "580.95.05"


def serial(node: str) -> str:
    """Return the serial that all sources know a node by."""
    return f"SN-{node.upper()}"


# -- MAAS ---------------------------------------------------------------------------------------------------------
def maas(spec: SiteSpec, plan: SitePlan) -> dict[str, str]:
    """Return machines and power parameters, with a password that nobody may read."""
    machines = [machine(spec, plan, node) for node in plan.nodes]
    power = {node.name: {"power_address": node.bmc.address, "power_user": "maas", "power_pass": "hunter2"}
             for node in plan.nodes if node.bmc}  # fmt: skip
    return {"machines.json": json.dumps(machines), "power-parameters.json": json.dumps(power)}


def machine(spec: SiteSpec, plan: SitePlan, node: NodePlan) -> dict[str, Any]:
    """Return one machine."""
    pool = spec.addressing.management
    gateway = {"cidr": pool.subnet, "gateway_ip": pool.gateway, "vlan": {"vid": 0}}
    ports = [
        {"id": number, "name": nic.name, "type": "physical", "mac_address": nic.mac, "effective_mtu": nic.mtu_bytes,
         "links": [{"mode": "static", "ip_address": node.management_address, "subnet": gateway}]
         if nic.name == node.boot_nic else []}
        for number, nic in enumerate(node.nics)
    ]  # fmt: skip
    system = spec.catalog.systems[node.system]
    boot = next(port for port in ports if port["name"] == node.boot_nic)
    return {
        "system_id": node.name,
        "hostname": node.name,
        "fqdn": node.fqdn,
        "domain": {"name": plan.domain},
        "hardware_info": {"system_vendor": system.vendor, "system_product": node.system.upper(),
                          "system_serial": serial(node.name)},
        "pool": {"name": node.pool},
        "architecture": {"x86_64": "amd64/generic", "aarch64": "arm64/generic"}[node.architecture],
        "bios_boot_method": {"uefi": "uefi", "bios": "pxe"}[node.firmware],
        "power_type": node.bmc.protocol if node.bmc else "manual",
        "osystem": "custom",
        "distro_series": "debian-12",
        "boot_interface": boot,
        "interface_set": ports,
    }  # fmt: skip


# -- Kubernetes ---------------------------------------------------------------------------------------------------
def kubernetes(spec: SiteSpec, plan: SitePlan) -> dict[str, str]:
    """Return the nodes of a running cluster."""
    items = [kube_node(spec, plan, node) for node in plan.nodes]
    return {"nodes.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": items})}


def kube_node(spec: SiteSpec, plan: SitePlan, node: NodePlan) -> dict[str, Any]:
    """Return one node."""
    arch = {"x86_64": "amd64", "aarch64": "arm64"}[node.architecture]
    labels = {"kubernetes.io/hostname": node.name, "kubernetes.io/arch": arch, "nvidia.com/gpu.count": str(node.gpus),
              "nvidia.com/cuda.driver-version.full": DRIVER, **node.labels}  # fmt: skip
    taints = []
    for taint in node.taints:
        key, _, rest = taint.partition("=")
        value, _, effect = rest.partition(":")
        taints.append({"key": key, "value": value, "effect": effect})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name, "labels": labels},
        "spec": {"taints": taints} if taints else {},
        "status": {
            "addresses": [{"type": "InternalIP", "address": node.management_address},
                          {"type": "Hostname", "address": node.name}],
            "capacity": {"pods": str(spec.cluster.max_pods if spec.cluster else 110)},
            "nodeInfo": {"architecture": arch, "kernelVersion": KERNEL, "osImage": "Debian GNU/Linux 12 (bookworm)",
                         "kubeletVersion": plan.cluster.version if plan.cluster else "v1.34.1",
                         "containerRuntimeVersion": "containerd://1.6.20"},
        },
    }  # fmt: skip


# -- Ansible inventories ------------------------------------------------------------------------------------------
def kayobe(spec: SiteSpec, plan: SitePlan) -> dict[str, str]:
    """Return a Kayobe configuration: inventory, networks, and the addresses that it handed out."""
    pools: defaultdict[str, list[str]] = defaultdict(list)
    for node in plan.nodes:
        pools[node.pool].append(node.name)
    names = "\n".join(["[compute:children]", *pools])
    hosts = "\n".join("\n".join([f"\n[{pool}]", *nodes]) for pool, nodes in pools.items())
    bmc, management = spec.addressing.bmc, spec.addressing.management
    networks = {"admin_oc_net_name": "admin", "oob_oc_net_name": "ipmi", "admin_cidr": management.subnet,
                "admin_allocation_pool_start": management.first, "admin_gateway": management.gateway,
                "ipmi_cidr": bmc.subnet if bmc else None, "ipmi_allocation_pool_start": bmc.first if bmc else None,
                "workaround_ansible_issue_8743": True}  # fmt: skip
    allocated = {"admin_ips": {node.name: node.management_address for node in plan.nodes},
                 "ipmi_ips": {node.name: node.bmc.address for node in plan.nodes if node.bmc}}  # fmt: skip
    times = {"timezone": spec.site.timezone, "chrony_ntp_servers": [{"server": it} for it in spec.site.ntp_servers]}
    return {
        "kayobe/inventory/groups": f"{names}\n",
        "kayobe/inventory/hosts": f"# This host acts as the configuration management control host.\n{hosts}\n",
        "kayobe/networks.yml": yaml.safe_dump({key: value for key, value in networks.items() if value is not None}),
        "kayobe/network-allocation.yml": yaml.safe_dump(allocated),
        "kayobe/time.yml": yaml.safe_dump(times),
        "kayobe/kolla.yml": "kolla_base_distro: rocky\n",
    }


def deepops(spec: SiteSpec, plan: SitePlan) -> dict[str, str]:
    """Return a DeepOps configuration."""
    lines = ["[all]", *(f"{node.name}  ansible_host={node.management_address}" for node in plan.nodes), "",
             "[kube-master]", "", "[kube-node]", *(node.name for node in plan.nodes), "",
             "[k8s-cluster:children]", "kube-master \t ", "kube-node \t ", "", "[all:vars]",
             "ansible_user=ubuntu"]  # fmt: skip
    cluster = spec.cluster
    found = {"kube_pods_subnet": cluster.pod_cidr, "kube_service_addresses": cluster.service_cidr,
             "kube_version": cluster.version, "cluster_name": cluster.name} if cluster else {}  # fmt: skip
    variables = {**found, "nfs_exports": "{{ k8s_nfs_export_path }}"}
    return {"config/inventory": "\n".join(lines), "config/group_vars/k8s-cluster.yml": yaml.safe_dump(variables)}


# -- devices ------------------------------------------------------------------------------------------------------
def redfish(spec: SiteSpec, plan: SitePlan) -> dict[str, str]:
    """Return a mockup tree for each BMC that speaks Redfish; most tell no host name."""
    files: dict[str, str] = {}
    for node in plan.nodes:
        if node.bmc and node.bmc.protocol == "redfish":
            files |= tree(spec, node)
    return files


def ssh(spec: SiteSpec, plan: SitePlan) -> dict[str, str]:
    """Return what each node tells over SSH: ports as `ip -json address` has them, and one of a container network."""
    files = {}
    for node in plan.nodes:
        links = [link(nic.name, nic.mac or "", nic.address, nic.mtu_bytes) for nic in node.nics]
        links += [link("cali12ab", "ee:ee:ee:ee:ee:ee", None, 1450), {"ifname": "lo", "link_type": "loopback"}]
        told = {"address": node.management_address, "role": "host", "hostname": node.name, "serial": serial(node.name),
                "domain": spec.site.domain, "timezone": spec.site.timezone, "machine": node.architecture,
                "kernel": KERNEL, "os": "Debian GNU/Linux 12 (bookworm)", "vendor": "", "product": "",
                "links": links, "routes": [], "lldp": ""}  # fmt: skip
        files[f"ssh/{node.management_address}.json"] = json.dumps(told)
    return files


def link(name: str, mac: str, address: str | None, mtu: int | None) -> dict[str, Any]:
    """Return one port as `ip -json address` prints it."""
    local, _, length = (address or "").partition("/")
    info = [{"family": "inet", "local": local, "prefixlen": int(length), "scope": "global"}] if address else []
    return {"ifname": name, "link_type": "ether", "address": mac, "mtu": mtu, "addr_info": info}


def members(*paths: str) -> dict[str, Any]:
    """Return a collection."""
    return {"Members": [{"@odata.id": path} for path in paths], "Members@odata.count": len(paths)}


def tree(spec: SiteSpec, node: NodePlan) -> dict[str, str]:
    """Return one BMC's resources as files."""
    assert node.bmc
    root = "/redfish/v1"
    nics = {nic.name: nic for nic in node.nics if nic.mac}
    resources: dict[str, Any] = {
        "": {"Systems": {"@odata.id": f"{root}/Systems"}, "Managers": {"@odata.id": f"{root}/Managers"}},
        "Systems": members(f"{root}/Systems/1"),
        "Systems/1": {"Manufacturer": spec.catalog.systems[node.system].vendor, "Model": node.system.upper(),
                      "SerialNumber": serial(node.name), "HostName": "", "BiosVersion": "1.0"},
        "Systems/1/EthernetInterfaces": members(*(f"{root}/Systems/1/EthernetInterfaces/{name}" for name in nics)),
        "Managers": members(f"{root}/Managers/bmc"),
        "Managers/bmc": {"FirmwareVersion": "2.1"},
        "Managers/bmc/EthernetInterfaces": members(f"{root}/Managers/bmc/EthernetInterfaces/eth0"),
        "Managers/bmc/EthernetInterfaces/eth0": {"MACAddress": node.bmc.mac,
                                                 "IPv4Addresses": [{"Address": node.bmc.address}]},
    }  # fmt: skip
    for name, nic in nics.items():
        resources[f"Systems/1/EthernetInterfaces/{name}"] = {"PermanentMACAddress": (nic.mac or "").upper()}
    base = f"bmcs/{node.bmc.address}/redfish/v1"
    return {f"{base}/{path}/index.json".replace("//", "/"): json.dumps(each) for path, each in resources.items()}


def lldp(plan: SitePlan) -> dict[str, str]:
    """Return what each node and each switch of an Ethernet fabric sees, a file a device."""
    seen: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for fabric in plan.fabrics.values():
        for cable in fabric.cables if fabric.kind != "infiniband" else ():
            for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
                port = {"id": {"type": "ifname", "value": far.port}, "descr": far.port}
                seen[near.device].append({near.port: {"via": "LLDP", "chassis": {far.device: {}}, "port": port}})
    return {f"{device}.json": json.dumps({"lldp": {"interface": found}}) for device, found in seen.items()}
