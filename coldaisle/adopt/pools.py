"""The sections `node_pools` and `hardware`: nodes by pool with their places, and what was delivered of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from coldaisle.adopt.estate import Device, Estate
from coldaisle.adopt.readers.parsing import slug
from coldaisle.adopt.told import Gap, Told, cleaned, note_of

FOREIGN = (
    "kubernetes.io", "k8s.io", "nvidia.com", "amd.com", "coldaisle.io", "kubespray.io", "node.longhorn.io", "cilium.io",
)  # fmt: skip
"""Domains of labels that controllers set, or a plan by itself: what they own is not the spec's."""
SEEN = ("os", "image", "kernel", "driver", "kubelet", "runtime", "bios_version", "bmc_version")
"""Versions that are noted beside a pool: whether to pin them is for its owner to say."""


def pools_of(estate: Estate) -> dict[str, list[Device]]:
    """Return nodes by pool: as a source names it, else those of one model together."""
    found: defaultdict[str, list[Device]] = defaultdict(list)
    for node in estate.of("node").values():
        found[slug(node.value("pool")) or node.entry or "nodes"].append(node)
    return {name: sorted(nodes, key=lambda node: node.name) for name, nodes in sorted(found.items())}


def node_pools(estate: Estate) -> dict[str, Any]:
    """Return the section, with gaps. Nodes of two models in one pool become a pool a model."""
    data: dict[str, Any] = {}
    for name, nodes in pools_of(estate).items():
        systems = sorted({node.entry for node in nodes})
        for system in systems:
            own = name if len(systems) == 1 else f"{name}-{system or 'unknown'}"
            data[own] = _pool([node for node in nodes if node.entry == system], system)
    return data


def _pool(nodes: list[Device], system: str) -> dict[str, Any]:
    return cleaned(
        {
            "system": Told(system, _models(nodes)) if system else _no_system(nodes),
            "role": _role(nodes),
            "nodes": Told({node.name: _place(node) for node in nodes}, _seen(nodes)),
            "labels": _labels(nodes),
            "taints": _taints(nodes),
            "boot": _no_boot(),
            "image": _no_image(),
            "rdma": _no_rdma(),
            "gpu": _no_gpu(nodes),
            "os": _no_os(nodes),
        }
    )


def _models(nodes: list[Device]) -> str:
    known = nodes[0].fields["model"]
    return f"{known.value}: {note_of(known)}"


def _role(nodes: list[Device]) -> Any:  # noqa: ANN401 - a part of a spec
    roles = {node.value("pool_role") for node in nodes}
    if roles in ({"training"}, {"serving"}):
        return Told(roles.pop(), note_of(nodes[0].fields["pool_role"]))
    return _no_role()


def _place(node: Device) -> Any:  # noqa: ANN401 - a part of a spec
    rack, unit = node.fields.get("rack"), node.fields.get("rack_unit")
    if rack is None or unit is None:
        return _no_place(node.name)
    notes = dict.fromkeys([note_of(rack), note_of(unit)])
    return Told({"rack": rack.value, "rack_unit": unit.value}, "; ".join(notes), flow=True)


def _seen(nodes: list[Device]) -> str:
    """Name the versions that sources saw, each once."""
    values = ((field, sorted({str(node.value(field)) for node in nodes if node.value(field)})) for field in SEEN)
    return "; ".join(f"seen {field} {', '.join(found)}" for field, found in values if found)


def _labels(nodes: list[Device]) -> dict[str, Any] | None:
    """Return the labels that all nodes have alike and that no controller sets."""
    each = [{key: str(known.value) for key, known in node.fields.items() if key.startswith("label ")} for node in nodes]
    common = set.intersection(*(set(labels.items()) for labels in each)) if each else set()
    own = {key.removeprefix("label "): value for key, value in sorted(common)}
    kept = {key: value for key, value in own.items() if not _is_foreign(key)}
    return {key: Told(value, "kubernetes") for key, value in kept.items()} or None


def _is_foreign(label: str) -> bool:
    domain = label.partition("/")[0] if "/" in label else ""
    return any(domain == each or domain.endswith(f".{each}") for each in FOREIGN)


def _taints(nodes: list[Device]) -> Any:  # noqa: ANN401 - a part of a spec
    known = [node.fields["taints"] for node in nodes if "taints" in node.fields]
    values = {each.value for each in known}
    if len(values) != 1:
        return None
    value = values.pop()
    taints = [] if value == ("none",) or not isinstance(value, tuple) else list(value)
    return Told(taints, note_of(known[0]), flow=True)


# -- what was delivered -------------------------------------------------------------------------------------------
def hardware(estate: Estate) -> dict[str, Any]:
    """Return the section: MAC addresses and GUIDs of the ports that the catalog's entry has, and the BMC's."""
    return {name: data for name, node in estate.of("node").items() if (data := _hardware(estate, node))}


def _hardware(estate: Estate, node: Device) -> Told | None:
    system = estate.catalog.systems.get(node.entry)
    ports = {port: known for port, known in estate.ports_of.get(node.name, {}).items() if _is_ours(system, port)}
    macs = {port: str(known["mac"].value) for port, known in sorted(ports.items()) if "mac" in known}
    guids = {port: _guid(str(known["guid"].value)) for port, known in sorted(ports.items()) if "guid" in known}
    sources = sorted({source for known in ports.values() if "mac" in known for source in known["mac"].sources})
    data = cleaned(
        {
            "bmc_protocol": node.value("bmc_protocol"),
            "bmc_mac": node.value("bmc_mac"),
            **_parts(node),
            "macs": macs or None,
            "guids": guids or None,
        }
    )
    serial = node.value("serial")
    notes = [", ".join(sources), f"serial {serial}" if serial else ""]
    return Told(data, "; ".join(filter(None, notes)), flow=True) if data else None


def _parts(node: Device) -> dict[str, Any]:
    """Return the serials of a node, its GPUs and its memory, where its BMC showed them all together."""
    slots = {key: node.value(field) for key, field in (("gpus", "gpu_serials"), ("dimms", "dimm_serials"))}
    found: dict[str, Any] = {
        key: dict(str(each).split("=", 1) for each in value) for key, value in slots.items() if isinstance(value, tuple)
    }
    return {"serial": node.value("serial"), **found} if found else {}


def other_counts(estate: Estate) -> Iterator[str]:
    """Yield which nodes show another number of GPUs or power supplies than their entry of the catalog has."""
    for name, node in estate.of("node").items():
        system = estate.catalog.systems.get(node.entry)
        if system is None:
            continue
        planned = {"gpus": system.gpus.count if system.gpus else 0, "psus": system.psus.count if system.psus else None}
        for field, count in planned.items():
            seen = node.value(field)
            if None not in {seen, count} and seen != count:
                what = {"gpus": "GPUs", "psus": "power supplies"}[field]
                yield f"{name} shows {seen} {what}, and {node.entry} has {count}: is a part or the entry wrong?"


def _guid(wwn: str) -> str:
    """Return a GUID as a spec writes it; NetBox keeps it in the field for a World Wide Name, of as many digits."""
    return f"0x{wwn.lower().removeprefix('0x').replace(':', '')}"


def _is_ours(system: Any, port: str) -> bool:  # noqa: ANN401 - a System, or None
    return system is not None and port in system.nics and system.nics[port].role != "bmc"


def strange_ports(estate: Estate) -> Mapping[str, list[str]]:
    """Return ports of nodes that a source knows and that the node's entry of the catalog does not have."""
    found: dict[str, list[str]] = {}
    for name, node in estate.of("node").items():
        system = estate.catalog.systems.get(node.entry)
        ports = [port for port in sorted(estate.ports_of.get(name, {})) if system and port not in system.nics]
        if ports:
            found[name] = ports
    return found


# -- gaps ---------------------------------------------------------------------------------------------------------
def _no_system(nodes: list[Device]) -> Gap:
    models = sorted({str(node.value("model")) for node in nodes if node.value("model")})
    named = f"{', '.join(models)}, which fits no entry of the catalog" if models else "which no source names"
    fits = sorted({name for node in nodes for name in node.match.candidates})
    write = f"one of {', '.join(fits)}" if fits else "an entry of the catalog; `coldaisle catalog` lists them"
    return Gap(
        what=f"the model of {len(nodes)} nodes: {named}", look="the label at the chassis", write=write, required=True
    )


def _no_role() -> Gap:
    look = "whoever runs the cluster"
    return Gap(what="what the pool is for", look=look, write="training or serving", required=True, stand_in="training")


def _no_place(name: str) -> Gap:
    write = "{rack: r01, rack_unit: 10}"
    return Gap(what=f"where {name} stands", look="the rack, or NetBox' device page", write=write, required=True)


def _no_boot() -> Gap:
    what = "whether the nodes boot from the network at every start"
    look = "the boot order in the BMC; left out, they boot what is installed"
    return Gap(what=what, look=look, write="network or image-installed")


def _no_image() -> Gap:
    return Gap(
        what="the image that nodes boot", look="the service host; with `provisioning.images`", write="an image's name"
    )


def _no_rdma() -> Gap:
    look = "a node: ibv_devinfo, sriov_numvfs, /etc/security/limits.d; left out, it stays as it is"
    return Gap(what="RDMA settings of the hosts", look=look, write="{mode: roce, vfs_per_port: 0, memlock: unlimited}")


def _no_gpu(nodes: list[Device]) -> Gap:
    seen = sorted({str(node.value("driver")) for node in nodes if node.value("driver")})
    floor = seen[0] if seen else "580.95.05"
    return Gap(what="GPU settings of the hosts", look="a node: nvidia-smi -q; left out, they stay as they are",
               write=f'{{driver_floor: "{floor}", persistence: true}}')  # fmt: skip


def _no_os(nodes: list[Device]) -> Gap:
    seen = sorted({str(node.value("kernel")) for node in nodes if node.value("kernel")})
    also = f" (the kernel is {', '.join(seen)})" if seen else ""
    look = f"a node: sysctl, hugepages, modules{also}; left out, they stay as they are"
    return Gap(what="operating system settings", look=look, write="{sysctl: {…}, hugepages_2mi: …}")
