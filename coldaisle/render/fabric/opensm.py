"""
What a subnet manager is given: names of switches, roots, compute ports, partitions and routing.

opensm knows devices by their GUIDs only. What the delivery lists do not know is left out of the lists, and said: a
list with holes would route worse than none, so that a list is whole or not written, and names stand in its place.
Source: opensm(8), its partition-config.txt, and the UFM manual's page on partitions.conf (lines of at most 4096).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from coldaisle.plan import plan_hash
from coldaisle.plan.model import End, FabricPlan, PartitionPlan, SitePlan, SubnetPlan
from coldaisle.units import counted

FOLDER = "/etc/opensm"
"""Where opensm looks for its files."""
MEMBERS_A_LINE = 100
"""GUIDs of a line of partitions.conf, so that it stays under 4096 letters."""
NEEDS_ROOTS = frozenset({"ftree", "updn", "ar_updn", "ar_ftree"})
FAT_TREE = frozenset({"ftree", "ar_ftree"})


@dataclass(frozen=True, slots=True)
class _GuidList:
    """A list of GUIDs: the setting that names it, its file, and the file of names where GUIDs are missing."""

    key: str
    file: str
    names: str


ROOTS = _GuidList("root_guid_file", "root-guids.conf", "root-names.txt")
COMPUTE_PORTS = _GuidList("cn_guid_file", "cn-guids.conf", "cn-names.txt")
ROUTING_ORDER = _GuidList("guid_routing_order_file", "guid-routing-order.conf", "routing-order-names.txt")


@dataclass(slots=True)
class SubnetFiles:
    """The files of a subnet by name, and what could not be written, with its reason."""

    files: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Subnet:
    plan: SitePlan
    fabric: FabricPlan
    subnet: SubnetPlan
    origin: str

    def guid(self, end: End) -> str | None:
        """Return the GUID of a node's port."""
        return self.subnet.guids.get(f"{end.device}:{end.port}")

    def switches(self, role: str) -> list[str]:
        """Return the switches of a role."""
        return [switch.name for switch in self.fabric.switches if switch.role == role]

    @property
    def roots(self) -> list[str]:
        """Return the switches of the uppermost tier."""
        return self.switches("core") or self.switches("spine") or self.switches("leaf")

    def ports(self, pools: Iterable[str] | None = None) -> list[End]:
        """Return the ports of nodes in the fabric, of some pools or of all, in the order of their leaves' ports."""
        wanted = None if pools is None else set(pools)
        nodes = {node.name for node in self.plan.nodes if wanted is None or node.pool in wanted}
        return [cable.a for cable in self.fabric.cables if cable.a.device in nodes]


def opensm_files(plan: SitePlan, fabric: FabricPlan) -> SubnetFiles:
    """
    Return the files of an InfiniBand fabric's subnet manager.

    Raises:
        LookupError: the fabric is not InfiniBand.
    """
    if fabric.subnet is None:
        raise LookupError(f"fabric {fabric.name} is {fabric.kind}: only InfiniBand has a subnet manager")
    origin = f"# site {plan.name}, fabric {fabric.name}, plan {plan_hash(plan)}"
    it = _Subnet(plan, fabric, fabric.subnet, origin)
    out = SubnetFiles()
    _names(it, out)
    settings = {"routing_engine": it.subnet.routing_engine}
    if it.subnet.routing_engine in NEEDS_ROOTS:
        roots = [(name, it.subnet.guids.get(name)) for name in it.roots]
        _list(it, out, settings, ROOTS, roots)
    ports = [(f"{end.device}:{end.port}", it.guid(end)) for end in it.ports()]
    if it.subnet.routing_engine in FAT_TREE:
        _list(it, out, settings, COMPUTE_PORTS, ports)
    else:
        _list(it, out, settings, ROUTING_ORDER, ports)
    if "node-name-map" in out.files:
        settings["node_name_map_name"] = f"{FOLDER}/node-name-map"
    settings["partition_config_file"] = f"{FOLDER}/partitions.conf"
    out.files["partitions.conf"] = "\n".join([it.origin, *_partitions(it, out), ""])
    out.files["opensm.conf"] = "\n".join([it.origin, *(f"{key} {value}" for key, value in settings.items()), ""])
    return out


def _names(it: _Subnet, out: SubnetFiles) -> None:
    """Write the names of the switches whose GUIDs are known, for opensm's log and for ibnetdiscover."""
    known = [(it.subnet.guids[one.name], one.name) for one in it.fabric.switches if one.name in it.subnet.guids]
    if known:
        out.files["node-name-map"] = "\n".join([it.origin, *(f'{guid} "{name}"' for guid, name in known), ""])
    if len(known) < len(it.fabric.switches):
        missing = len(it.fabric.switches) - len(known)
        out.notes.append(f"{it.fabric.name}: the GUIDs of {counted(missing, 'switch', 'switches')} are not known")


def _list(
    it: _Subnet,
    out: SubnetFiles,
    settings: dict[str, str],
    kind: _GuidList,
    wanted: list[tuple[str, str | None]],
) -> None:
    """Write a list of GUIDs and the setting that names it; where one is not known, write names in its place."""
    missing = sum(1 for _, guid in wanted if guid is None)
    if not missing:
        out.files[kind.file] = "\n".join([it.origin, *(f"{guid} # {name}" for name, guid in wanted), ""])
        settings[kind.key] = f"{FOLDER}/{kind.file}"
        return
    head = f"# for {kind.key}: give each its GUID"
    out.files[kind.names] = "\n".join([it.origin, head, *(name for name, _ in wanted), ""])
    what = f"{missing} of {len(wanted)} GUIDs are not known; see {kind.names}"
    out.notes.append(f"{it.fabric.name}: no {kind.file}: {what}")


def _partitions(it: _Subnet, out: SubnetFiles) -> Iterator[str]:
    """Yield partitions.conf: the default partition, in which ports are limited members once there are others."""
    if not it.subnet.partitions:
        yield "Default=0x7fff, ipoib : ALL=full ;"
        return
    yield "Default=0x7fff, ipoib : ALL=limited, SELF=full ;"
    for partition in it.subnet.partitions:
        yield from _partition(it, out, partition)


def _partition(it: _Subnet, out: SubnetFiles, partition: PartitionPlan) -> Iterator[str]:
    head = f"{partition.name}=0x{partition.pkey:04x}{', ipoib' if partition.ipoib else ''}"
    members = [(end, "full") for end in it.ports(partition.full)]
    members += [(end, "limited") for end in it.ports(partition.limited)]
    known = [f"{guid}={role}" for end, role in members if (guid := it.guid(end))]
    if len(known) < len(members):
        missing = f"{len(members) - len(known)} of {counted(len(members), 'port')}"
        yield f"# {partition.name}: the GUIDs of {missing} are not known: these are in no partition but Default"
        out.notes.append(f"{it.fabric.name}: partition {partition.name}: the GUIDs of {missing} are not known")
    for at in range(0, len(known), MEMBERS_A_LINE):
        yield f"{head} : {', '.join(known[at : at + MEMBERS_A_LINE])} ;"
