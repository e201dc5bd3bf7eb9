"""A whole spec from what is known: its sections, and allocations that keep every address and port as it is."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from coldaisle.adopt.draft import planner
from coldaisle.adopt.estate import Device, Estate
from coldaisle.adopt.fabric_search import Numbers, fabrics
from coldaisle.adopt.floor import facility
from coldaisle.adopt.merge import Known, shown
from coldaisle.adopt.pools import hardware, node_pools
from coldaisle.adopt.told import Gap, Told, cleaned, derived, plain, said

_NAME = re.compile(r"[^a-z0-9.-]+")


@dataclass(frozen=True, slots=True)
class Adopted:
    """A spec with sources and gaps, section by section, and what earlier tools handed out."""

    sections: Mapping[str, Any]
    allocations: Numbers


def adopted(estate: Estate, name: str) -> Adopted:
    """
    Return the spec of a site.

    Args:
        estate: What its sources know.
        name: What the site is called where no source names it.
    """
    sections: dict[str, Any] = {
        "site": _site(estate, name),
        "facility": facility(estate),
        "addressing": _addressing(estate),
        "node_pools": node_pools(estate),
        "hardware": hardware(estate),
        "switch_hardware": _switch_hardware(estate),
        **_cluster(estate),
    }
    found = fabrics(estate, planner(sections, estate.catalog, _addresses(estate)))
    sections |= {"fabrics": found.data, **_others(estate)}
    wanted = {section: data for section, data in sections.items() if data != {}}
    return Adopted(wanted, {**_addresses(estate), **found.numbers})


# -- site ---------------------------------------------------------------------------------------------------------
def _site(estate: Estate, name: str) -> dict[str, Any]:
    known = estate.merged.of("site").get("", {})
    own = known.get("name")
    called = _NAME.sub("-", str(own.value if own else name).lower()).strip("-.")
    zone = known.get("zone")
    return cleaned(
        {
            "name": Told(called, "netbox") if own else derived(called, "the folder"),
            "domain": said(known.get("domain")) or _no_domain(),
            "timezone": said(known.get("timezone")) or _no_time("timezone", "such as Etc/UTC, which is the default"),
            "ntp_servers": said(known.get("ntp_servers")) or _no_time("ntp_servers", "[10.0.0.1]"),
            "admin_user": _no_admin(),
            "admin_key_file": _no_key(),
            "bmc_credentials": _no_bmc(),
            "bmc_ca_file": _no_ca(),
            "zone": said(zone) if zone and zone.value != called else None,
            "region": said(known.get("region")),
        }
    )


def _cluster(estate: Estate) -> dict[str, Any]:
    known = estate.merged.of("site").get("", {})
    if "cluster_version" not in known and "pod_cidr" not in known:
        what = "the Kubernetes cluster that nodes join"
        return {"cluster": _no_section(what, "`kubectl cluster-info`", "there is none")}
    own = known.get("cluster_name") or known.get("name")
    return {"cluster": _cluster_data(known, own)}


def _cluster_data(known: Mapping[str, Known], own: Known | None) -> dict[str, Any]:
    needed = {
        "api_server": ("https://cluster.invalid:6443", "kubectl cluster-info", "https://10.0.0.10:6443"),
        "ca_file": ("ca.crt", "certificate-authority-data of a kubeconfig", "a path"),
        "kubeconfig": ("file:kubeconfig", "where an administrator's kubeconfig is kept", "file:PATH"),
        "bootstrap_token": ("file:token", "`kubeadm token create`, kept in a file", "file:PATH"),
        "cluster_dns": ("192.0.2.10", "`kubectl -n kube-system get service`", "10.96.0.10"),
        "chart_mirror": (
            "https://charts.invalid",
            "the mirror that the site's charts come from",
            "http://10.0.0.2:8879",
        ),
    }
    ranges = {"pod_cidr": "192.0.2.0/25", "service_cidr": "192.0.2.128/25"}
    gaps = {key: _cluster_gap(key, *rest) for key, rest in needed.items()}
    look = "flags of the API server and the controller manager: --service-cluster-ip-range, --cluster-cidr"
    gaps |= {key: _cluster_gap(key, stand_in, look, "10.0.0.0/16") for key, stand_in in ranges.items()}
    data = {
        "name": said(own) or _cluster_gap("name", "cluster", "whoever runs the cluster", "a name"),
        "version": said(known.get("cluster_version"))
        or _cluster_gap("version", "v1.0.0", "kubectl version", "v1.34.1"),
        **{key: said(known.get(key)) or gap for key, gap in gaps.items()},
        "max_pods": said(known.get("max_pods")),
        "topology_manager_policy": _optional("the kubelets' topology manager policy", "/var/lib/kubelet/config.yaml"),
        "prometheus_url": _optional("where autoscalers read queues", "the monitoring of the cluster"),
    }
    return cleaned(data)


# -- addresses ----------------------------------------------------------------------------------------------------
def _addresses(estate: Estate) -> Numbers:
    """Return every address that is in use, by kind and name, for allocations.yaml to keep."""
    nodes, switches = estate.of("node"), estate.of("switch")
    found = {
        "management": _by_name(nodes, "management_address"),
        "bmc": _by_name(nodes, "bmc_address"),
        "switches": _by_name(switches, "management_address"),
    }
    return {kind: addresses for kind, addresses in found.items() if addresses}


def _by_name(devices: Mapping[str, Device], field: str) -> dict[str, str]:
    return {name: str(value) for name, device in devices.items() if (value := device.value(field)) is not None}


def _addressing(estate: Estate) -> dict[str, Any]:
    taken = _addresses(estate)
    networks = estate.merged.of("network")
    pools = {
        kind: _pool(estate, kind, networks.get(kind, {}), taken.get(kind, {}))
        for kind in ("management", "bmc", "switches")
    }
    return {kind: pool for kind, pool in pools.items() if kind == "management" or pool is not None}


def _pool(estate: Estate, kind: str, known: Mapping[str, Known], taken: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Return a pool: its subnet, the lowest address in use as the first to hand out, its gateway."""
    subnet = said(known.get("subnet")) or _around(estate, taken.values())
    if subnet is None:
        return _no_subnet(kind) if taken or kind == "management" else None
    inside = ipaddress.ip_network(plain(subnet), strict=False)
    used = sorted(address for each in taken.values() if (address := ipaddress.ip_address(each)) in inside)
    first = said(known.get("first")) or (derived(str(used[0]), "the lowest address in use") if used else None)
    return cleaned({"subnet": subnet, "first": first, "gateway": said(known.get("gateway"))})


def _around(estate: Estate, addresses: Iterable[str]) -> Told | None:
    """Return the network of the ports that have these addresses, or the smallest prefix of a source around them."""
    wanted = set(addresses)
    found: Counter[str] = Counter()
    for fields in estate.ports.values():
        interface = ipaddress.ip_interface(str(fields["address"].value)) if "address" in fields else None
        if interface and str(interface.ip) in wanted and interface.network.prefixlen < interface.network.max_prefixlen:
            found[str(interface.network)] += 1
    return derived(found.most_common(1)[0][0], "the ports that have these addresses") if found else None


def _switch_hardware(estate: Estate) -> dict[str, Any]:
    found = {}
    for name, switch in estate.of("switch").items():
        port = estate.catalog.switches[switch.entry].management_port
        mac = estate.ports_of.get(name, {}).get(port or "", {}).get("mac")
        if mac:
            found[name] = {"mac": said(mac)}
    return found


# -- gaps ---------------------------------------------------------------------------------------------------------
def _others(estate: Estate) -> dict[str, Any]:
    known = estate.merged.of("site").get("", {}).get("operators")
    charts = "`helm list -A`" + (f", which has {shown(known.value)}" if known else "")
    return {
        "provisioning": _no_section(
            "the host that nodes boot from", "the DHCP server", "nothing boots over the network"
        ),
        "gpu": _no_section("the GPU and network operators", charts, "they are not used"),
        "serving": _no_section("model endpoints", "`kubectl get deployments -A`", "there are none"),
        "autoscaling": _no_section("the scale of endpoints", "`kubectl get scaledobjects -A`", "there are none"),
    }


def _no_section(what: str, look: str, without: str) -> Gap:
    return Gap(
        what=what, look=f"{look}; leave it out where {without}", write="the section, as `coldaisle schema` has it"
    )


def _optional(what: str, look: str) -> Gap:
    return Gap(what=what, look=look, write="its value; left out, the default is planned")


def _cluster_gap(key: str, stand_in: str, look: str, write: str) -> Gap:
    return Gap(what=f"{key} of the cluster", look=look, write=write, required=True, stand_in=stand_in)


def _no_domain() -> Gap:
    look = "`hostname --domain` of a node"
    return Gap(what="the domain of the hosts", look=look, write="example.net", required=True, stand_in="site.invalid")


def _no_time(field: str, write: str) -> Gap:
    return Gap(what=f"{field} of the hosts", look="`timedatectl` and the time service's file of a node", write=write)


def _no_admin() -> Gap:
    return Gap(what="who logs in to hosts", look="the hosts' accounts; left out, it is ops", write="a user name")


def _no_key() -> Gap:
    look = "the administrators: the private key that opens the hosts, with its public half beside it"
    return Gap(
        what="their SSH key", look=look, write="a path, such as ~/.ssh/id_ed25519", required=True, stand_in="key"
    )


def _no_bmc() -> Gap:
    look = "the secret store: a file with username and password, or two variables of the environment"
    write = "file:PATH or env:PREFIX"
    return Gap(what="where the BMCs' credentials are kept", look=look, write=write, required=True, stand_in="env:BMC")


def _no_ca() -> Gap:
    return Gap(what="the authority of the BMCs' certificates", look="whoever signed them", write="a path")


def _no_subnet(kind: str) -> Gap:
    stand_in = {"subnet": "192.0.2.0/24"}
    what = f"the subnet of {kind} addresses"
    look = "the address plan, a host's `ip address`, or NetBox' prefixes"
    required = kind == "management"
    return Gap(what=what, look=look, write="{subnet: 10.0.0.0/22}", required=required, stand_in=stand_in)
