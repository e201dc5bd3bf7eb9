"""The parts of a machine against the delivery list: what is missing, strange or exchanged, and where to look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.check import open_site
from coldaisle.life.hardware import Inspection, inspect, seen_of
from tests.unit.life.sites import move

NODE, OTHER = "r01-n01", "r01-n02"


def delivered(number: int) -> dict[str, Any]:
    """Return a node's serials."""
    gpus = {f"GPU_SXM_{slot}": f"G{number}{slot}" for slot in range(1, 9)}
    return {"serial": f"CH{number}", "gpus": gpus, "dimms": {"DIMM_A1": f"D{number}1", "DIMM_B1": f"D{number}2"}}


@pytest.fixture
def listed(site: Path) -> Path:
    """Return the base site with serials of two nodes."""
    file = site / "hardware.yaml"
    data = yaml.safe_load(file.read_text())
    for number, name in enumerate((NODE, OTHER), start=1):
        data["hardware"][name] |= delivered(number)
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return site


def parts(site: Path, name: str) -> dict[str, list[dict[str, Any]]]:
    """Return what the BMC of a machine that is as delivered shows."""
    hardware = open_site(site).spec.hardware[name]
    return {
        "system": [{"SerialNumber": hardware.serial}],
        "gpus": [{"Id": slot, "SerialNumber": serial} for slot, serial in hardware.gpus.items()],
        "memory": [{"Id": slot, "SerialNumber": serial} for slot, serial in hardware.dimms.items()],
        "ports": [{"Id": mac, "mac": mac.upper()} for mac in hardware.macs.values()],
        "drives": [],
    }


def looked(site: Path, shown: dict[str, list[dict[str, Any]]], gaps: dict[str, str] | None = None) -> Inspection:
    """Return what an inspection of NODE finds."""
    checked = open_site(site)
    node = next(each for each in checked.plan.nodes if each.name == NODE)
    return inspect(checked.spec, checked.plan, node, seen_of(shown, gaps or {}))


def test_a_machine_as_delivered_is_clean(listed: Path) -> None:
    """Every part counts once; how a BMC spells a MAC address is no difference."""
    found = looked(listed, parts(listed, NODE))
    assert found.clean
    assert found.as_planned == 1 + 8 + 2 + 3


def test_a_missing_gpu_is_named_with_its_slot_and_serial(listed: Path) -> None:
    """One of eight is gone: slot, serial, and the rack and unit to go to."""
    shown = parts(listed, NODE)
    del shown["gpus"][3]
    [one] = looked(listed, shown).differences
    assert (one.kind, one.place, one.planned, one.seen) == ("missing", "GPU_SXM_4", "G14", None)
    assert one.look.startswith("slot GPU_SXM_4 of r01-n01 (rack r01, unit ")


def test_a_missing_module_and_a_strange_one(listed: Path) -> None:
    """A memory module in a slot that has none by the list, and one that is away."""
    shown = parts(listed, NODE)
    shown["memory"] = [shown["memory"][0], {"Id": "DIMM_C1", "SerialNumber": "D99"}]
    assert [(one.kind, one.place) for one in looked(listed, shown).differences] == [
        ("missing", "DIMM_B1"),
        ("unexpected", "DIMM_C1"),
    ]


def test_a_dark_adapter_is_named_with_the_cable_of_its_port(listed: Path) -> None:
    """A port that the BMC does not show leads to its adapter, and to the switch port at the other end."""
    shown = parts(listed, NODE)
    mac = open_site(listed).spec.hardware[NODE].macs["rail0"]
    shown["ports"] = [port for port in shown["ports"] if port["Id"] != mac]
    [one] = looked(listed, shown).differences
    assert (one.kind, one.part, one.place) == ("missing", "macs", "rail0")
    assert "its cable to leaf01:swp" in one.look


def test_gpus_that_changed_places_are_moved_and_not_missing(listed: Path) -> None:
    """Two GPUs in each other's slots are two findings that name both slots."""
    shown = parts(listed, NODE)
    first, second = shown["gpus"][:2]
    first["SerialNumber"], second["SerialNumber"] = second["SerialNumber"], first["SerialNumber"]
    found = looked(listed, shown).differences
    assert [(one.kind, one.place) for one in found] == [("moved", "GPU_SXM_1"), ("moved", "GPU_SXM_2")]


def test_another_nodes_gpu_and_one_that_had_left_are_told_apart(listed: Path) -> None:
    """What is in a slot instead is named with whose it is, or when it was taken out of where."""
    shown = parts(listed, NODE)
    shown["gpus"][0]["SerialNumber"] = "G25"
    shown["gpus"][1]["SerialNumber"] = "old7"
    move(listed, OTHER, "repair", "repair", details={"gone": {"gpus.GPU_SXM_1": "OLD7"}})
    first, second = looked(listed, shown).differences
    assert first.what.endswith("it belongs to r01-n02 GPU_SXM_5")
    assert "it was taken out of r01-n02 on 2026-11-28T12:00:00Z" in second.what
    assert "coldaisle node replace … --gpu GPU_SXM_1=G25" in first.look


def test_two_machines_that_were_exchanged_are_one_finding(listed: Path) -> None:
    """The other machine's serials at this one's BMC are not sixteen findings; both places are named."""
    [one] = looked(listed, parts(listed, OTHER)).differences
    assert (one.kind, one.planned, one.seen) == ("wrong-node", NODE, OTHER)
    assert "the two machines are exchanged, or the cables of their BMCs" in one.what
    assert "r01 u" in one.look


def test_exchanged_machines_are_found_by_their_ports_where_no_serial_is_known(site: Path) -> None:
    """A delivery list of MAC addresses alone is enough."""
    [one] = looked(site, parts(site, OTHER) | {"system": [], "gpus": [{"Id": str(at)} for at in range(8)]}).differences
    assert (one.kind, one.seen) == ("wrong-node", OTHER)


def test_without_serials_gpus_are_counted(site: Path) -> None:
    """Seven of eight: how many, which are there, and that a list with serials would name the slot."""
    shown = parts(site, NODE) | {"system": [], "gpus": [{"Id": f"GPU{at}"} for at in range(7)]}
    [one] = looked(site, shown).differences
    assert (one.kind, one.planned, one.seen) == ("missing", "8", "7")
    assert "GPU0, GPU1" in one.what


def test_what_a_bmc_does_not_tell_is_not_missing(listed: Path) -> None:
    """A gap is said with its reason, and no part of its kind is called missing; nor is the machine called clean."""
    shown = parts(listed, NODE) | {"gpus": []}
    found = looked(listed, shown, {"gpus": "the BMC lists none", "drives": "the BMC lists none"})
    assert found.differences == ()
    assert found.could_not_tell == {"gpus": "the BMC lists none"}
    assert not found.clean
