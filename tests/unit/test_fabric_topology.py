"""Fabrics as Slurm, Kubernetes, opensm and UFM are told of them, read back by readers of their documented forms."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import yaml

from coldaisle.check import CheckedSite, open_site
from coldaisle.cli import main
from coldaisle.plan import plan_hash
from coldaisle.plan.fabric import plan_fabrics
from coldaisle.plan.model import FabricPlan, PartitionPlan, SitePlan
from coldaisle.render.fabric.domains import nvlink_domains, tiers_of
from coldaisle.render.fabric.kubernetes import NVLINK_LABEL, TIER_LABEL, kubernetes_files, topology_labels
from coldaisle.render.fabric.opensm import MEMBERS_A_LINE, opensm_files
from coldaisle.render.fabric.slurm import hostlist, slurm_files
from coldaisle.render.fabric.ufm import ufm_files
from tests.unit.floor_sites import superpod
from tests.unit.test_cabling_pack import folder
from tests.unit.topology_readers import below, hosts, ibdm, slurm

ROOT = Path(__file__).parents[2]
SITES = ("h100-pod", "b200-roce", "gb200-nvl72", "sim")


@cache
def site(name: str) -> CheckedSite:
    """Return one of the sites that come with the project."""
    return open_site(folder(name))


def plan_and_fabric(name: str) -> tuple[SitePlan, FabricPlan]:
    """Return a site's plan and its compute fabric."""
    return site(name).plan, site(name).plan.fabrics["compute"]


# -- domains ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SITES)
def test_nodes_of_one_group_hang_on_the_same_leaves(name: str) -> None:
    """A lowest domain has all nodes of its leaves and all leaves of its nodes, and no node is in two."""
    plan, fabric = plan_and_fabric(name)
    groups = tiers_of(fabric, (node.name for node in plan.nodes))[0]
    placed = [node for group in groups for node in group.nodes]
    assert sorted(placed) == sorted({node.name for node in plan.nodes})
    home = {node: group for group in groups for node in group.nodes}
    for cable in fabric.cables:
        if cable.a.device in home:
            assert cable.b.device in home[cable.a.device].switches


def test_a_pod_of_the_reference_has_four_groups_of_eight_leaves() -> None:
    """127 nodes in four scalable units are four domains of 32 leaves together, under one of 16 spines."""
    plan, fabric = plan_and_fabric("h100-pod")
    groups, pods = tiers_of(fabric, (node.name for node in plan.nodes))
    assert [(len(group.switches), len(group.nodes)) for group in groups] == [(8, 32), (8, 32), (8, 32), (8, 31)]
    assert [(pod.name, len(pod.switches), len(pod.children)) for pod in pods] == [("compute-pod001", 16, 4)]


def test_a_domain_keeps_its_name_when_others_come() -> None:
    """Without its last nodes a fabric has fewer domains, and those that are left have the names and nodes they had."""
    plan, fabric = plan_and_fabric("h100-pod")
    whole = tiers_of(fabric, (node.name for node in plan.nodes))[0]
    fewer = tiers_of(fabric, (node.name for node in plan.nodes[:64]))[0]
    assert fewer == whole[:2]


def test_three_tiers_nest_in_each_other() -> None:
    """512 nodes on three tiers: 16 groups of 8 leaves in pods, and one domain of cores above all of them."""
    spec = superpod(512, managers=False)
    (fabric,) = plan_fabrics(spec).values()
    groups, pods, cores = tiers_of(fabric, (node.name for node in spec.nodes))
    assert len(groups) == 16
    assert [child for pod in pods for child in pod.children] == [group.name for group in groups]
    assert [cores[0].children, len(cores[0].switches)] == [tuple(pod.name for pod in pods), 64]
    assert sum(len(pod.switches) for pod in pods) == 128


def test_planes_of_a_fabric_are_one_domain() -> None:
    """Spines that no link joins are in one pod all the same, since the nodes below them hang on both."""
    plan, fabric = plan_and_fabric("sim")
    apart = tuple(
        cable
        for cable in fabric.cables
        if cable.kind == "node-leaf" or cable.a.device.removeprefix("leaf") == cable.b.device.removeprefix("spine")
    )
    groups, pods = tiers_of(replace(fabric, cables=apart), (node.name for node in plan.nodes))
    assert (len(groups), len(pods)) == (1, 1)
    assert pods[0].switches == ("spine01", "spine02")


# -- Slurm ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SITES)
def test_slurms_tree_has_every_node_under_one_leaf_and_one_root(name: str) -> None:
    """Read back, each node is below exactly one lowest switch, and all are below the one root."""
    plan, fabric = plan_and_fabric(name)
    files = dict(slurm_files(plan, fabric))
    tree = slurm(files["topology-tree.conf"])
    placed = [node for nodes in tree.nodes.values() for node in nodes]
    assert sorted(placed) == sorted(node.name for node in plan.nodes)
    children = {child for switches in tree.switches.values() for child in switches}
    (root,) = (tree.nodes.keys() | tree.switches.keys()) - children
    assert below(tree, root) == set(placed)
    assert ("topology-block.conf" in files) == (name == "gb200-nvl72")
    assert all(f"plan {plan_hash(plan)}" in text.splitlines()[0] for text in files.values())


def test_slurms_blocks_are_nvlink_domains() -> None:
    """Eight racks of 18 trays are eight blocks, whose base size every block has."""
    plan, fabric = plan_and_fabric("gb200-nvl72")
    found = slurm(dict(slurm_files(plan, fabric))["topology-block.conf"])
    assert found.blocks == {name: list(nodes) for name, nodes in nvlink_domains(plan).items()}
    assert [len(nodes) for nodes in found.blocks.values()] == [18] * 8
    assert found.sizes == [18]
    assert all(
        {node.split("-")[0] for node in nodes} == {name.removeprefix("nvlink-")} for name, nodes in found.blocks.items()
    )


def test_the_smallest_block_sets_the_base_size() -> None:
    """Every block has at least as many nodes as the base block size, also where a rack is not full."""
    plan, fabric = plan_and_fabric("gb200-nvl72")
    fewer = replace(plan, nodes=plan.nodes[2:])
    found = slurm(dict(slurm_files(fewer, fabric))["topology-block.conf"])
    assert found.sizes == [min(len(nodes) for nodes in found.blocks.values())] == [16]


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (["n1", "n2", "n3", "n7"], "n[1-3,7]"),
        (["n09", "n10", "n1"], "n1,n[09-10]"),
        (["r01-n1", "r01-n2", "r02-n1", "head"], "head,r01-n[1-2],r02-n1"),
        (["n9", "n10", "n11"], "n9,n[10-11]"),
    ],
)
def test_a_hostlist_stands_for_its_names(names: list[str], folded: str) -> None:
    """Names are folded by their last number with its zeros, and unfold to the same names."""
    assert hostlist(names) == folded
    assert sorted(hosts(folded)) == sorted(names)


# -- Kubernetes -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SITES)
def test_labels_say_the_domains_of_each_node(name: str) -> None:
    """Each node has a label of each tier and its own of the plan, and values are what Kubernetes takes."""
    plan, fabric = plan_and_fabric(name)
    listed = yaml.safe_load(dict(kubernetes_files(plan, fabric))["node-labels.yaml"])
    labels = {item["metadata"]["name"]: item["metadata"]["labels"] for item in listed["items"]}
    for node in plan.nodes:
        assert dict(node.labels).items() <= labels[node.name].items()
        assert {f"{TIER_LABEL}0", f"{TIER_LABEL}1"} <= labels[node.name].keys()
        assert (NVLINK_LABEL in labels[node.name]) == (node.nvlink_domain is not None)
        assert all(
            re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", value)
            for value in labels[node.name].values()
        )


@pytest.mark.parametrize("name", SITES)
def test_k6_topology_values_are_not_ambiguous(name: str) -> None:
    """K6: no value of a level is the beginning of a sibling's, nor a node's name, nor a value of another level."""
    plan, fabric = plan_and_fabric(name)
    levels: dict[str, set[str]] = {"host": {node.name for node in plan.nodes}}
    for labels in topology_labels(plan, fabric).values():
        for label, value in labels.items():
            levels.setdefault(label, set()).add(value)
    for values in levels.values():
        assert not [(a, b) for a in values for b in values if a != b and b.startswith(a)]
    everything = [value for values in levels.values() for value in values]
    assert len(everything) == len(set(everything))


def test_kueues_levels_go_from_the_widest_to_the_host() -> None:
    """Levels are unique with the host last; NVLink domains that cross groups get a topology of their own."""
    for name, expected in {
        "h100-pod": [[f"{TIER_LABEL}1", f"{TIER_LABEL}0", "kubernetes.io/hostname"]],
        "gb200-nvl72": [
            [f"{TIER_LABEL}1", f"{TIER_LABEL}0", "kubernetes.io/hostname"],
            [NVLINK_LABEL, "kubernetes.io/hostname"],
        ],
    }.items():
        plan, fabric = plan_and_fabric(name)
        found = list(yaml.safe_load_all(dict(kubernetes_files(plan, fabric))["kueue-topology.yaml"]))
        assert [[level["nodeLabel"] for level in one["spec"]["levels"]] for one in found] == expected
        assert {(one["apiVersion"], one["kind"]) for one in found} == {("kueue.x-k8s.io/v1beta2", "Topology")}


def test_nvlink_domains_within_a_group_are_a_level_of_it() -> None:
    """Where every NVLink domain lies in one group, one topology has both."""
    plan, fabric = plan_and_fabric("h100-pod")
    racks = replace(plan, nodes=tuple(replace(node, nvlink_domain=node.rack) for node in plan.nodes))
    (found,) = yaml.safe_load_all(dict(kubernetes_files(racks, fabric))["kueue-topology.yaml"])
    assert [level["nodeLabel"] for level in found["spec"]["levels"]] == [
        f"{TIER_LABEL}1", f"{TIER_LABEL}0", NVLINK_LABEL, "kubernetes.io/hostname",
    ]  # fmt: skip


# -- opensm -----------------------------------------------------------------------------------------------------
@pytest.fixture
def subnet(tmp_path: Path) -> CheckedSite:
    """Return a small InfiniBand site whose GUIDs are all known, with two partitions."""
    cases = ROOT / "tests" / "cases"
    laid = Path(shutil.copytree(cases / "base", tmp_path / "site"))
    shutil.copytree(cases / "good" / "partitions_and_guids", laid, dirs_exist_ok=True)
    return open_site(laid)


def test_a_known_subnet_is_written_whole(subnet: CheckedSite) -> None:
    """With all GUIDs known, roots, order and names are lists, the settings name them, and nothing is noted."""
    found = opensm_files(subnet.plan, subnet.plan.fabrics["compute"])
    assert found.notes == []
    assert found.files["opensm.conf"].splitlines()[1:] == [
        "routing_engine updn",
        "root_guid_file /etc/opensm/root-guids.conf",
        "guid_routing_order_file /etc/opensm/guid-routing-order.conf",
        "node_name_map_name /etc/opensm/node-name-map",
        "partition_config_file /etc/opensm/partitions.conf",
    ]
    roots = [line.split() for line in found.files["root-guids.conf"].splitlines()[1:]]
    assert roots == [["0x5254000000000011", "#", "spine01"], ["0x5254000000000012", "#", "spine02"]]
    assert '0x5254000000000001 "leaf01"' in found.files["node-name-map"].splitlines()
    assert all(
        text.startswith(f"# site case, fabric compute, plan {plan_hash(subnet.plan)}") for text in found.files.values()
    )


def test_partitions_have_the_ports_of_their_pools(subnet: CheckedSite) -> None:
    """Full and limited members are the pools' ports, and ports are limited in the default partition then."""
    _, default, tenant, storage = (
        opensm_files(subnet.plan, subnet.plan.fabrics["compute"]).files["partitions.conf"].splitlines()
    )
    assert default == "Default=0x7fff, ipoib : ALL=limited, SELF=full ;"
    assert tenant.startswith("tenant-a=0x1001, ipoib : ")
    assert storage.startswith("storage=0x1002 : ")
    guests = {"0x0000525400010102", "0x0000525400010103", "0x0000525400020102", "0x0000525400020103"}
    assert set(re.findall(r"(0x\w+)=full", tenant.partition(":")[2])) == guests
    assert set(re.findall(r"(0x\w+)=limited", storage)) == guests
    assert len(re.findall(r"(0x\w{16})=full", storage)) == 4


def test_what_is_not_known_is_said_and_not_made_up(subnet: CheckedSite) -> None:
    """One GUID less, and its list is names, the setting is left out, and notes say how many are missing."""
    fabric = subnet.plan.fabrics["compute"]
    assert fabric.subnet is not None
    guids = {name: guid for name, guid in fabric.subnet.guids.items() if name not in {"spine02", "r01-n01:rail1"}}
    found = opensm_files(subnet.plan, replace(fabric, subnet=replace(fabric.subnet, guids=guids)))
    assert found.files["root-names.txt"].splitlines()[2:] == ["spine01", "spine02"]
    assert "root-guids.conf" not in found.files
    assert "root_guid_file" not in found.files["opensm.conf"]
    assert "# tenant-a: the GUIDs of 1 of 4 ports are not known" in found.files["partitions.conf"]
    assert found.notes == [
        "compute: the GUIDs of 1 switch are not known",
        "compute: no root-guids.conf: 1 of 2 GUIDs are not known; see root-names.txt",
        "compute: no guid-routing-order.conf: 1 of 8 GUIDs are not known; see routing-order-names.txt",
        "compute: partition tenant-a: the GUIDs of 1 of 4 ports are not known",
        "compute: partition storage: the GUIDs of 1 of 8 ports are not known",
    ]


def test_lines_of_partitions_stay_short() -> None:
    """A partition of a thousand ports is spread over lines that opensm and UFM take."""
    plan, fabric = plan_and_fabric("h100-pod")
    assert fabric.subnet is not None
    ports = [f"{cable.a.device}:{cable.a.port}" for cable in fabric.cables if cable.kind == "node-leaf"]
    guids = {port: f"0x{at:016x}" for at, port in enumerate(ports, 1)}
    partition = PartitionPlan(name="all", pkey=1, ipoib=True, full=tuple(pool.name for pool in plan.pools), limited=())
    known = replace(fabric, subnet=replace(fabric.subnet, guids=guids, partitions=(partition,)))
    lines = [
        line for line in opensm_files(plan, known).files["partitions.conf"].splitlines() if line.startswith("all=")
    ]
    assert max(map(len, lines)) < 4096
    assert sum(line.count("=full") for line in lines) == 1016
    assert len(lines) == -(-1016 // MEMBERS_A_LINE)


# -- UFM --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["h100-pod", "gb200-nvl72"])
def test_ufms_topology_has_each_link_from_every_switch_that_sees_it(name: str) -> None:
    """Read back, links between switches are there from both ends and mirror each other; all have the planned rate."""
    checked = site(name)
    fabric = checked.plan.fabrics["compute"]
    types, links = ibdm(dict(ufm_files(checked.spec, checked.plan, fabric))["compute.topo"])
    assert types == {switch.name: "MQM9700" for switch in fabric.switches}
    assert len({(link.system, link.port) for link in links}) == len(links)
    between = {(link.system, link.port, link.peer, link.peer_port) for link in links if link.peer in types}
    assert {(peer, peer_port, system, port) for system, port, peer, peer_port in between} == between
    switches = set(types)
    assert len(between) == 2 * sum(1 for c in fabric.cables if {c.a.device, c.b.device} <= switches)
    assert len(links) - len(between) == sum(1 for c in fabric.cables if not {c.a.device, c.b.device} <= switches)
    assert {link.rate_gbps for link in links} == {400.0}
    # As the chip counts: what the catalog names first is port 1.
    first = next(link for link in links if (link.system, link.port) == ("leaf01", "P1"))
    assert (first.peer, first.peer_port) == (fabric.cables[0].a.device, "mlx5_0/P1")


def test_ufm_needs_to_know_what_a_model_is_called(subnet: CheckedSite) -> None:
    """A switch model without its name in UFM is refused in words."""
    spec = subnet.spec
    model = spec.catalog.switches["ib-switch"].model_copy(update={"ibdm_type": None})
    catalog = spec.catalog.model_copy(update={"switches": {**spec.catalog.switches, "ib-switch": model}})
    with pytest.raises(LookupError, match="the catalog has no ibdm_type of ib-switch, as UFM names it"):
        list(ufm_files(replace(spec, catalog=catalog), subnet.plan, subnet.plan.fabrics["compute"]))


# -- the command ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "words", "code", "said"),
    [
        ("gb200-nvl72", ["--for", "slurm"], 0, ""),
        (
            "h100-pod",
            ["--for", "opensm"],
            3,
            "compute: no root-guids.conf: 16 of 16 GUIDs are not known; see root-names.txt",
        ),
        ("sim", ["--for", "ufm"], 2, "site sim has no InfiniBand fabric"),
        (
            "sim",
            ["--for", "opensm", "--fabric", "oob"],
            2,
            "fabric oob is ethernet: only InfiniBand has a subnet manager",
        ),
        ("sim", ["--for", "slurm", "--fabric", "nope"], 2, "there is no fabric nope; known: compute, oob"),
    ],
)
def test_the_command_writes_files_or_says_why_not(  # noqa: PLR0913, PLR0917 - a case and two fixtures
    name: str,
    words: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each file is printed with its path; what is missing or refused is said on standard error, and by its code."""
    monkeypatch.setattr(
        sys, "argv", ["coldaisle", "fabric", "topology", str(folder(name)), "-o", str(tmp_path), *words]
    )
    with pytest.raises(SystemExit) as stopped:
        main()
    out, err = capsys.readouterr()
    assert stopped.value.code == code
    assert said in err
    assert {Path(line) for line in out.splitlines()} == {path for path in tmp_path.rglob("*") if path.is_file()}
    assert bool(out) == (code != 2)
