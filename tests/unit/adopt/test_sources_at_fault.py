"""Sources that end early, have things twice or contradict each other: all of it is told at once, with both places."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from coldaisle.adopt.facts import Source
from coldaisle.adopt.outcome import new_spec
from coldaisle.adopt.readers import READERS
from tests.unit.adopt.adopting import exported, understood

Files = Mapping[str, str]


def changed(files: Files, name: str, **fields: object) -> dict[str, str]:
    """Return an export in which some fields of the first object of an endpoint, or of the first machine, differ."""
    data = json.loads(files[name])
    rows = data["results"] if isinstance(data, dict) else data
    rows[0] |= fields
    return {**files, name: json.dumps(data)}


def told(sources: Mapping[Source, Files]) -> list[str]:
    """Return what is said of the sources' faults, and hold that nothing is written then."""
    outcome = new_spec(understood("sim", sources), "sim", sources)
    assert not outcome.files or not outcome.problems
    return [each.text() for each in outcome.problems]


def test_an_export_that_ends_early_is_refused() -> None:
    """Half an export would look like a smaller site: the place where it ends is told, and nothing is made of it."""
    whole = exported("sim", "netbox")
    found = told({"netbox": {**whole, "cables.json": whole["cables.json"][:900]}})
    assert len(found) == 1
    assert found[0].startswith("cables.json:1  netbox  [adopt-unreadable]\n  what: the JSON ends early or is broken")


def test_one_page_of_several_is_refused() -> None:
    """A page with a next page, or with fewer results than it counts, is a part of the site."""
    whole = exported("sim", "netbox")
    page = json.loads(whole["devices.json"])
    page |= {"count": 400, "next": "http://netbox/api/dcim/devices/?offset=50"}
    (found,) = told({"netbox": {**whole, "devices.json": json.dumps(page)}})
    assert found == (
        "devices.json devices  netbox  [adopt-unreadable]\n  what: the export is one page of several\n"
        "  have: 10 of 400 results\n  fix:  ask with ?limit=0, or export every page"
    )


@pytest.mark.parametrize("source", ["netbox", "maas", "kubernetes", "redfish", "kayobe", "deepops"])
def test_every_reader_tells_of_what_is_none_of_its_tool(source: Source) -> None:
    """A file of another tool, an empty one and a broken one are problems with a fix, and never an exception."""
    for text in (
        "",
        "{",
        "[]",
        "{}",
        '{"items": 3}',
        "- a\n- b",
        "[all\nx=1",
        "nul\x00l",
        '[{"system_id": null}]',
        "[[]]",
    ):
        for name in (
            "nodes.json",
            "inventory",
            "kayobe/inventory/hosts",
            "kayobe/networks.yml",
            "b/redfish/v1/index.json",
        ):
            reading = READERS[source]({name: text})
            assert reading.problems or not reading.facts
            assert all(each.fix and each.what for each in reading.problems)


def test_a_mac_that_two_ports_have_is_told_with_both() -> None:
    """The same MAC on two nodes is a copied record: it names neither."""
    nodes = json.loads(exported("sim", "maas")["machines.json"])
    nodes[1]["interface_set"][0]["mac_address"] = nodes[0]["interface_set"][0]["mac_address"]
    files = {**exported("sim", "maas"), "machines.json": json.dumps(nodes)}
    (found,) = told({"maas": files})
    assert found == (
        "machines.json r01-n01  mac 52:54:00:01:01:01  [adopt-duplicate]\n"
        "  what: 2 things have the mac 52:54:00:01:01:01\n"
        "  have: port r01-n01:mgmt0 by maas (machines.json r01-n01); "
        "port r01-n02:mgmt0 by maas (machines.json r01-n02)\n"
        "  fix:  see on the hardware whose it is, and correct the record of the others"
    )


def test_everything_is_told_at_once() -> None:
    """A truncated file of one source hides no duplicate of another."""
    nodes = json.loads(exported("sim", "maas")["machines.json"])
    nodes[1]["hardware_info"]["system_serial"] = nodes[0]["hardware_info"]["system_serial"]
    netbox = exported("sim", "netbox")
    sources: dict[Source, Files] = {
        "maas": {**exported("sim", "maas"), "machines.json": json.dumps(nodes)},
        "netbox": {**netbox, "racks.json": netbox["racks.json"][:-2]},
        "kubernetes": {"nodes.json": "{}"},
    }
    found = told(sources)
    assert [line for each in found for line in each.splitlines() if "what:" in line] == [
        "  what: the JSON ends early or is broken: Expecting ',' delimiter",
        "  what: there are no nodes in it",
        "  what: 2 things have the serial SN-R01-N01",
    ]


# -- contradictions -----------------------------------------------------------------------------------------------
def test_a_contradiction_that_the_table_settles_is_named_with_both() -> None:
    """NetBox is believed about a rack unit, and the cluster about an address: the other source is told each time."""
    netbox = changed(exported("sim", "netbox"), "devices.json", primary_ip4={"address": "198.18.1.66/24"})
    outcome = new_spec(
        understood("sim", {"netbox": netbox, "kubernetes": exported("sim", "kubernetes")}), "sim", ["netbox"]
    )
    assert outcome.problems == ()
    (found,) = [each.text for each in outcome.contradictions]
    assert found == (
        "device r01-n01 management_address: kubernetes says 198.18.1.101 (nodes.json r01-n01); "
        "netbox says 198.18.1.66 (netbox devices 13). kubernetes is believed"
    )
    assert "  r01-n01: 198.18.1.101" in outcome.files["allocations.yaml"]
    assert "198.18.1.66" not in outcome.files["allocations.yaml"]


def test_a_serial_is_never_chosen() -> None:
    """Two serials of one name are two machines, one of which is somewhere else."""
    netbox = changed(exported("sim", "netbox"), "devices.json", serial="SN-OTHER")
    (found,) = told({"netbox": netbox, "maas": exported("sim", "maas")})
    assert found == (
        "machines.json r01-n01  device r01-n01  [adopt-contradiction]\n"
        "  what: sources tell the serial of device r01-n01 in 2 ways, and none is surer\n"
        "  have: maas says SN-R01-N01 (machines.json r01-n01); netbox says SN-OTHER (netbox devices 13)\n"
        "  fix:  see which is true, and correct the other record"
    )


def test_a_board_in_the_wrong_chassis_is_found() -> None:
    """A BMC whose serial is one host's and whose address is another's belongs to neither."""
    redfish = dict(exported("sim", "redfish"))
    path = next(name for name in redfish if name.endswith("198.18.0.101/redfish/v1/Systems/1/index.json"))
    system = json.loads(redfish[path]) | {"SerialNumber": "SN-R02-N02"}
    found = told({"netbox": exported("sim", "netbox"), "redfish": {**redfish, path: json.dumps(system)}})
    assert len(found) == 1
    assert "the BMC at 198.18.0.101 tells of 2 hosts" in found[0]
    assert "r01-n01 by bmc_address 198.18.0.101" in found[0]
    assert "r02-n02 by serial SN-R02-N02" in found[0]


def test_two_cables_at_one_port_of_one_source_are_a_problem() -> None:
    """Nothing tells which of two recorded cables is there."""
    cables = json.loads(exported("sim", "netbox")["cables.json"])
    cables["results"][1]["b_terminations"] = cables["results"][0]["b_terminations"]
    found = told({"netbox": {**exported("sim", "netbox"), "cables.json": json.dumps(cables)}})
    assert [each.splitlines()[1] for each in found] == ["  what: netbox has two cables at one port"]
