"""What single sources say in ways of their own: names, templates, passwords, control planes, bare neighbours."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from coldaisle.adopt.facts import Fact, PortRef, Reading, Source, Subject
from coldaisle.adopt.identify import Sighting, identified
from coldaisle.adopt.merge import FIRST, merged
from coldaisle.adopt.models import Match, match, normal
from coldaisle.adopt.readers import READERS, deepops, kayobe, kubernetes, maas, netbox, redfish
from coldaisle.spec.load import load_catalog
from tests.unit.adopt.adopting import SITES, exported, lay, understood


def fields(reading: Reading, kind: str, name: str) -> dict[str, object]:
    """Return what a reading says of a thing."""
    return {fact.field: fact.value for fact in reading.facts if (fact.subject.kind, fact.subject.name) == (kind, name)}


# -- models -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("model", "gpu", "entry"),
    [
        ("DGX H100", None, "dgx-h100"),
        ("DGXH100", None, "dgx-h100"),
        ("NVIDIA DGX B200", None, "dgx-b200"),
        ("MQM9700-NS2F", None, "qm9700"),
        ("Nvidia SN5600", None, "sn5600"),
        ("MSN4600-CS2FC", None, "sn4600c"),
        ("PowerEdge XE9680", "NVIDIA-H200", "dell-xe9680-h200"),
        ("PowerEdge XE9680", "AMD Instinct MI300X", "dell-xe9680-mi300x"),
        ("SYS-821GE-TNHR", "NVIDIA-H100-80GB-HBM3", "supermicro-sys-821ge-tnhr-h100"),
    ],
)
def test_models_are_found_in_their_vendors_words(model: str, gpu: str | None, entry: str) -> None:
    """Case, vendor and punctuation do not matter; a chassis of several GPUs is settled by the GPU that is seen."""
    assert match(load_catalog()[0], model, gpu).entry == entry


def test_a_model_is_never_guessed() -> None:
    """One that fits several entries is named with them, one that fits none with nothing: SN4600 is not SN4600C."""
    catalog, _ = load_catalog()
    found = match(catalog, "PowerEdge XE9680")
    assert found == Match(candidates=("dell-xe9680-h100", "dell-xe9680-h200", "dell-xe9680-mi300x"))
    assert match(catalog, "MSN4600-VS2F") == Match()
    assert match(catalog, "DGX H900") == Match()
    assert normal("NVIDIA") == "nvidia"


# -- who is believed ----------------------------------------------------------------------------------------------
def test_the_documents_table_is_the_one_that_is_used() -> None:
    """docs/adopt.md names every field of the table with the order of its sources, and no other."""
    text = (SITES.parent / "docs" / "adopt.md").read_text(encoding="utf-8")
    section = text.partition("## Who is believed")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z_, 0-9]+) \| ([a-z, ]+) \|$", section, flags=re.MULTILINE)
    said = {field: tuple(order.split(", ")) for fields_, order in rows for field in fields_.split(", ")}
    said.pop("fields")
    assert said.pop("cables") == ("lldp before netbox",)
    assert said == FIRST


# -- MAAS and NetBox ----------------------------------------------------------------------------------------------
def test_passwords_of_power_parameters_are_not_read() -> None:
    """The file holds them in clear text; nothing of a reading does."""
    reading = maas.read(exported("sim", "maas"))
    assert "hunter2" in exported("sim", "maas")["power-parameters.json"]
    assert "hunter2" not in repr(reading)
    assert fields(reading, "device", "r01-n01")["bmc_address"] == "198.18.0.101"


def test_netbox_of_one_file_is_read_as_a_folder_is() -> None:
    """Endpoints may be keys of one file; what they hold is the same."""
    files = exported("sim", "netbox")
    one = {name.removesuffix(".json"): json.loads(text)["results"] for name, text in files.items()}
    assert {(f.subject, f.field, f.value) for f in netbox.read({"all.json": json.dumps(one)}).facts} == {
        (f.subject, f.field, f.value) for f in netbox.read(files).facts
    }


def test_cables_of_netbox_that_are_planned_are_not_there() -> None:
    """A cable that is planned or taken away is no cable; lengths come in any unit."""
    files = dict(exported("sim", "netbox"))
    page = json.loads(files["cables.json"])
    page["results"][0]["status"] = {"value": "planned"}
    page["results"][1] |= {"length": 10, "length_unit": {"value": "ft"}}
    files["cables.json"] = json.dumps(page)
    links = netbox.read(files).links
    assert len(links) == len(page["results"]) - 1
    assert links[0].length_m == 3.048


# -- Kubernetes ---------------------------------------------------------------------------------------------------
def test_the_control_plane_is_no_node_of_the_site() -> None:
    """Its nodes are there before the site's are; taints that come and go with a condition are none of a pool."""
    data = json.loads(exported("sim", "kubernetes")["nodes.json"])
    data["items"][0]["metadata"]["labels"]["node-role.kubernetes.io/control-plane"] = ""
    data["items"][1]["spec"] = {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]}
    data["items"][2]["metadata"]["name"] = "r02-n01.sim.example.net"
    reading = kubernetes.read({"nodes.json": json.dumps(data)})
    names = {fact.subject.name for fact in reading.facts if fact.subject.kind == "device"}
    assert names == {"r01-n02", "r02-n01", "r02-n02"}
    assert fields(reading, "device", "r01-n02")["taints"] == ("none",)
    assert fields(reading, "site", "")["domain"] == "sim.example.net"
    assert "control plane" in reading.notes[0]


def test_labels_that_controllers_own_are_not_the_pools() -> None:
    """A label of the operator's own goes into the spec; those of kubelet, GPU operator and ours do not."""
    from coldaisle.adopt.site import adopted  # noqa: PLC0415

    data = json.loads(exported("sim", "kubernetes")["nodes.json"])
    for item in data["items"]:
        item["metadata"]["labels"] |= {"team": "vision", "node.kubernetes.io/instance-type": "x"}
    estate = understood("sim", {"netbox": exported("sim", "netbox"), "kubernetes": {"n.json": json.dumps(data)}})
    pools = adopted(estate, "sim").sections["node_pools"]
    assert {name: {key: told.value for key, told in pool["labels"].items()} for name, pool in pools.items()} == {
        "guests": {"team": "vision"},
        "light": {"team": "vision"},
    }


# -- inventories --------------------------------------------------------------------------------------------------
def test_kayobe_says_by_role_which_network_is_which() -> None:
    """The names of networks are free; hosts of the compute groups are nodes, others are not."""
    files = {
        "kayobe/inventory/hosts": "[controllers]\nctl01\n[compute-gpu]\ngpu[01:03] redfish_address=10.0.9.1\n",
        "kayobe/inventory/groups": "[compute:children]\ncompute-gpu\n[overcloud:children]\ncompute\noverloop\n",
        "kayobe/networks.yml": "admin_oc_net_name: a\na_cidr: 10.0.0.0/24\noob_wl_net_name: i\nx_cidr: 10.9.0.0/24\n",
        "kayobe/network-allocation.yml": "a_ips: {gpu01: 10.0.0.11}\ni_ips: {gpu01: 10.0.9.1}\nx_ips: {n: 10.9.0.1}\n",
    }
    reading = kayobe.read(files)
    assert fields(reading, "device", "gpu01") == {
        "management_address": "10.0.0.11", "bmc_address": "10.0.9.1", "kind": "node", "pool": "compute-gpu"
    }  # fmt: skip
    assert fields(reading, "device", "ctl01")["kind"] == "device"
    assert fields(reading, "network", "management") == {"subnet": "10.0.0.0/24"}
    assert {f.value for f in reading.facts if f.field == "subnet"} == {"10.0.0.0/24"}


def test_addresses_and_subnets_that_are_none_are_not_known() -> None:
    """A word where an address belongs makes no fact, in any source, rather than a spec that cannot be read."""
    prefix = {"id": 1, "prefix": "ten slash eight", "role": {"slug": "management"}}
    reading = netbox.read({"devices.json": "[]", "prefixes.json": json.dumps([prefix])})
    assert reading.facts == ()
    networks = "admin_oc_net_name: a\na_cidr: soon\na_gateway: router\na_allocation_pool_start: first\n"
    files = {"kayobe/networks.yml": networks, "kayobe/inventory/hosts": "[compute]\ngpu01 ansible_host=gpu01.x\n"}
    assert {fact.field for fact in kayobe.read(files).facts} == {"kind"}
    variables = {"config/inventory": "[kube-node]\ngpu01\n", "config/group_vars/all.yml": "kube_pods_subnet: many\n"}
    assert {fact.field for fact in deepops.read(variables).facts} == {"kind"}


def test_deepops_names_groups_in_two_ways_and_templates_are_not_values() -> None:
    """Kubespray's groups were renamed; a variable that is a template is not known."""
    for nodes, master in (("kube-node", "kube-master"), ("kube_node", "kube_control_plane")):
        inventory = (
            f"[all]\nmgmt01 ansible_host=10.0.0.1\ngpu01 ansible_host=10.0.2.1\n[{master}]\nmgmt01\n[{nodes}]\ngpu01\n"
        )
        variables = 'kube_pods_subnet: 10.233.64.0/18\nkube_version: "{{ x }}"\n'
        reading = deepops.read({"config/inventory": inventory, "config/group_vars/k8s_cluster.yml": variables})
        assert fields(reading, "device", "gpu01") == {"kind": "node", "management_address": "10.0.2.1"}
        assert fields(reading, "device", "mgmt01")["kind"] == "device"
        assert fields(reading, "site", "") == {"pod_cidr": "10.233.64.0/18"}


# -- BMCs and neighbours ------------------------------------------------------------------------------------------
def test_a_bmc_is_its_hosts_by_any_of_its_marks() -> None:
    """A BMC at an address that nobody knows is found by the serial or by the MAC of a port; fillers are no serial."""
    whole = exported("sim", "redfish")
    moved = {name.replace("198.18.0.101", "198.18.9.9"): text for name, text in whole.items()}
    known = maas.read({"machines.json": exported("sim", "maas")["machines.json"]})
    told = redfish.read(moved)
    both = merged(identified(Reading(known.facts + told.facts)))
    assert both.get("device", "r01-n01", "bmc_address").value == "198.18.9.9"  # type: ignore[union-attr]
    assert redfish.serial_of("To be filled by O.E.M.") is None
    alone = identified(told)
    assert alone.facts == ()
    assert [note.split(" belongs")[0] for note in alone.notes] == [
        "bmcs/198.18.0.104: the BMC at 198.18.0.104 (SIM-LIGHT, SN-R02-N02)",
        "bmcs/198.18.9.9: the BMC at 198.18.9.9 (SIM-GUEST, SN-R01-N01)",
    ]


def test_what_bmc_discover_prints_is_read() -> None:
    """The JSON of `coldaisle bmc discover --login` is a source too."""
    found: dict[str, object] = {"address": "10.0.0.5", "redfish": "1.15.0", "vendor": "NVIDIA", "model": "DGXH100",
                                "serial": "X1", "mac": "52:54:00:00:00:01", "gaps": []}  # fmt: skip
    silent = {"answer": "silent", "node": "n1", "found": None}
    reading = redfish.read({"bmcs.json": json.dumps({"bmcs": [{"answer": "unexpected", "found": found}, silent]})})
    assert fields(reading, "bmc", "10.0.0.5") == {
        "manufacturer": "NVIDIA", "model": "DGXH100", "serial": "X1", "bmc_mac": "52:54:00:00:00:01",
        "bmc_protocol": "redfish",
    }  # fmt: skip


def test_a_neighbour_without_a_name_is_known_by_its_mac() -> None:
    """Where nothing knows the MAC, the cable is not made up, and that is told."""
    mac = Fact(Subject("port", "r01-n01:rail0"), "mac", "52:54:00:01:01:02", "netbox", "x")
    near = PortRef("leaf01", "swp1")
    seen = [Sighting(near, None, (), (each,), "leaf01.json") for each in ("52:54:00:01:01:02", "52:54:00:ff:ff:ff")]
    found = identified(Reading((mac,)), seen)
    assert [link.ends for link in found.links] == [(near, PortRef("r01-n01", "rail0"))]
    assert found.notes == ("leaf01.json: leaf01:swp1 sees 52:54:00:ff:ff:ff without a port that a source names",)


def test_lldp_is_believed_before_a_recorded_cable(tmp_path: Path) -> None:
    """Two plugs that were swapped are two contradictions, and the spec's cables are those that are there."""
    text = exported("sim", "lldp")["leaf01.json"]
    swapped = text.replace("r01-n01", "@").replace("r02-n01", "r01-n01").replace("@", "r02-n01")
    sources: dict[Source, Mapping[str, str]] = {"netbox": exported("sim", "netbox"), "lldp": {"leaf01.json": swapped}}
    estate = understood("sim", sources, tmp_path)
    texts = [each.text for each in estate.merged.contradictions]
    assert len(texts) == 2
    assert all("lldp says" in text and "netbox says" in text and text.endswith("lldp is believed") for text in texts)
    ends = {cable.ends for cable in estate.merged.cables}
    assert (PortRef("leaf01", "swp1"), PortRef("r02-n01", "rail0")) in ends


def test_files_of_a_folder_are_read_by_their_paths(tmp_path: Path) -> None:
    """A tree on disk gives the same facts as its texts."""
    files = exported("sim", "kayobe")
    lay(tmp_path, files)
    read = {
        str(path.relative_to(tmp_path)): path.read_text(encoding="utf-8")
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert READERS["kayobe"](read).facts == READERS["kayobe"](files).facts
    assert yaml.safe_load(read["kayobe/networks.yml"])["admin_oc_net_name"] == "admin"
