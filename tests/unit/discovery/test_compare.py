"""What was found against the plan, and what BMCs tell without a login or with one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import Service
from typer.testing import CliRunner

from coldaisle.check import open_site
from coldaisle.cli.app import build_app
from coldaisle.cli.bmc_discover import with_identity
from coldaisle.discovery import Candidate, Found, compare, probe, rmcp
from coldaisle.plan.model import SitePlan
from tests.unit.playbooks.tree_redfish import ROOT, at, collection, serve_tree

SITE = Path(__file__).parents[3] / "inventory/sim"


@pytest.fixture(scope="module")
def plan() -> SitePlan:
    """Return the plan of the simulated site: four nodes with BMCs whose MAC addresses are known."""
    return open_site(SITE).plan


def found_of(plan: SitePlan) -> list[Found]:
    """Return every planned BMC as found at its place."""
    bmcs = (node.bmc for node in plan.nodes if node.bmc)
    return [Found(address=bmc.address, redfish="1.15.0", mac=bmc.mac) for bmc in bmcs]


def answers(plan: SitePlan, found: list[Found]) -> dict[str, str]:
    """Return the answer for each node, or for an address that no node has."""
    asked = [bmc.address for bmc in found_of(plan)]
    return {
        place.node or str(place.found and place.found.address): place.answer
        for place in compare(plan, found, asked).places
    }


def test_all_at_their_places(plan: SitePlan) -> None:
    """Every planned BMC is expected, and nothing else is there."""
    assert set(answers(plan, found_of(plan)).values()) == {"expected"}


def test_two_that_were_swapped_are_told_by_their_macs(plan: SitePlan) -> None:
    """Who answers at a neighbour's address is known by its MAC address, and is told once."""
    first, second, *rest = found_of(plan)
    swapped = [replace(first, address=second.address), replace(second, address=first.address), *rest]
    names = [node.name for node in plan.nodes if node.bmc]
    told = answers(plan, swapped)
    assert [told[name] for name in names[:2]] == ["wrong-address", "wrong-address"]
    assert len(told) == len(names)


def test_a_bmc_in_its_neighbours_place_is_told_once(plan: SitePlan) -> None:
    """The neighbour, which answers nowhere, is silent; its address has somebody whom the plan knows by name."""
    first, second, *rest = found_of(plan)
    names = [node.name for node in plan.nodes if node.bmc]
    told = answers(plan, [replace(first, address=second.address), *rest])
    assert [told[name] for name in names[:2]] == ["wrong-address", "silent"]


def test_silent_unexpected_and_exchanged_boards(plan: SitePlan) -> None:
    """One does not answer, one is nobody's, and one answers with a board that the plan does not know."""
    _first, second, *rest = found_of(plan)
    stranger = Found(address="198.51.100.250", ipmi="2.0")
    told = answers(plan, [replace(second, mac="52:54:00:ff:ff:ff"), stranger, *rest])
    names = [node.name for node in plan.nodes if node.bmc]
    assert [told[name] for name in names[:2]] == ["silent", "wrong-mac"]
    assert told["198.51.100.250"] == "unexpected"


def test_what_was_not_asked_is_not_silent(plan: SitePlan) -> None:
    """A range of one rack says nothing of the others."""
    first = found_of(plan)[0]
    assert [place.answer for place in compare(plan, [first], [first.address]).places] == ["expected"]


def test_service_roots_of_vendors_tell_what_they_have() -> None:
    """Dell and HPE put serial, MAC address and model into keys of their own."""
    dell = {"RedfishVersion": "1.17.0", "Vendor": "Dell", "Product": "Integrated Dell Remote Access Controller",
            "Oem": {"Dell": {"ServiceTag": "ABC1234", "ManagerMACAddress": "D0:8E:79:00:00:01"}}}  # fmt: skip
    told = probe.from_root("192.0.2.7", dell, None)
    assert (told.vendor, told.serial, told.mac) == ("Dell", "ABC1234", "d0:8e:79:00:00:01")
    hpe = {"RedfishVersion": "1.13.0", "Oem": {"Hpe": {"Manager": [{"ManagerType": "iLO 6"}]}}}
    told = probe.from_root("192.0.2.7", hpe, "52:54:00:01:01:00")
    assert (told.vendor, told.model, told.mac) == ("Hpe", "iLO 6", "52:54:00:01:01:00")


def manager(addresses: list[dict[str, str]]) -> dict[str, dict[str, Any]]:
    """Return a service whose manager has one port with these addresses."""
    tree: dict[str, dict[str, Any]] = {ROOT: {"Systems": at(f"{ROOT}/Systems"), "Managers": at(f"{ROOT}/Managers")}}
    tree |= collection(f"{ROOT}/Systems", **{"1": {"Manufacturer": "Example", "Model": "X1", "SerialNumber": "S1"}})
    tree |= collection(f"{ROOT}/Managers", **{"1": {"EthernetInterfaces": at(f"{ROOT}/Managers/1/Ports")}})
    port = {"MACAddress": "52:54:00:01:01:00", "IPv4Addresses": addresses}
    return tree | collection(f"{ROOT}/Managers/1/Ports", eth0=port, usb0={"MACAddress": "", "IPv4Addresses": None})


@pytest.mark.parametrize(
    ("addresses", "mac", "gaps"),
    [
        ([{"Address": "192.0.2.7"}], "52:54:00:01:01:00", ()),
        ([{"Address": "10.0.0.1"}], None, ("mac: no port of the manager has the address 192.0.2.7",)),
    ],
)
def test_b24_a_bmc_whose_ports_lack_its_address_is_kept_with_that_gap(
    addresses: list[dict[str, str]], mac: str | None, gaps: tuple[str, ...]
) -> None:
    """B24: no MAC address for the address that we asked at leaves the rest of the inventory as it is, and is told."""
    with serve_tree(manager(addresses)) as port:
        bmc = with_identity(Found(address="192.0.2.7"), Service(Access(f"http://127.0.0.1:{port}", "u", "p")))
    assert (bmc.vendor, bmc.model, bmc.serial) == ("Example", "X1", "S1")
    assert (bmc.mac, bmc.gaps) == (mac, gaps)


def test_packets_of_rmcp_are_told_apart() -> None:
    """A pong says that something is there, capabilities say what; anything else says nothing."""
    pong = bytes([6, 0, 0xFF, 6, 0, 0, 0x11, 0xBE, 0x40, 0, 0, 16]) + bytes(16)
    assert rmcp.parse(pong) == rmcp.Rmcp(None, None)
    data = [1, 0x80, 4, 2, 0x7C, 0x2A, 0x00, 0]
    capabilities = bytes([6, 0, 0xFF, 7, *[0] * 9, 16, 0x81, 0x1C, 0x63, 0x20, 0, 0x38, 0, *data, 0x13])
    assert rmcp.parse(capabilities) == rmcp.Rmcp("2.0", "Supermicro")
    assert rmcp.parse(capabilities[:12]) is None
    assert rmcp.parse(b"HTTP/1.1 400 Bad Request") is None


def test_a_bmc_that_tells_a_part_is_kept(serve_ipmi: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """B24: IPMI alone is a BMC too; what it does not tell is listed, and who does not answer is no BMC."""
    monkeypatch.setattr(rmcp, "PORT", int(serve_ipmi().partition(":")[2]))
    monkeypatch.setattr(probe, "HTTPS", 1)
    done: list[int] = []
    candidates = [Candidate("127.0.0.1", "52:54:00:01:01:00"), Candidate("127.0.0.3")]
    (bmc,) = probe.probe_all(candidates, done.append, at_once=2, timeout_s=1)
    assert (bmc.address, bmc.redfish, bmc.ipmi, bmc.mac) == ("127.0.0.1", None, "2.0", "52:54:00:01:01:00")
    assert [gap.partition(":")[0] for gap in bmc.gaps] == ["vendor", "model", "serial"]
    assert done == [1, 2]


@pytest.mark.parametrize(
    ("found", "code", "said"),
    [
        ("all", 0, "4 addresses asked: 4 expected\n"),
        ("one silent", 3, "4 addresses asked: 3 expected, 1 silent\n"),
        ("one more", 5, "4 addresses asked: 4 expected, 1 unexpected\n"),
    ],
)
def test_the_command_ends_with_what_it_found(
    plan: SitePlan, monkeypatch: pytest.MonkeyPatch, found: str, code: int, said: str
) -> None:
    """0 as planned, 3 somebody is silent, 5 somebody is not expected; JSON has the counts."""
    there = found_of(plan)
    cases = {"all": there, "one silent": there[1:], "one more": [*there, Found(address="198.51.100.250", ipmi="2.0")]}
    monkeypatch.setattr("coldaisle.cli.bmc_discover.probe_all", lambda *_: cases[found])
    result = CliRunner().invoke(build_app("bmc"), ["bmc", "discover", str(SITE)])
    assert (result.exit_code, result.stdout.endswith(said)) == (code, True), result.output
    result = CliRunner().invoke(build_app("bmc"), ["bmc", "discover", str(SITE), "--json"])
    assert result.exit_code == code
    assert json.loads(result.stdout)["counts"]["expected"] == len(there) - (found == "one silent")


def test_sources_that_cannot_be_used_are_told_at_once(tmp_path: Path) -> None:
    """A missing file, a bad range and a bad list are three lines and one exit status."""
    (tmp_path / "bmcs").write_text("r01\n")
    options = ["--leases", str(tmp_path / "none"), "--range", "9", "--list", str(tmp_path / "bmcs")]
    result = CliRunner().invoke(build_app("bmc"), ["bmc", "discover", str(SITE), *options])
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 3


def test_maintenance_from_the_command_line() -> None:
    """Hold, show, be refused as somebody else, release."""
    runner, app = CliRunner(), build_app("bmc")
    held = runner.invoke(app, ["bmc", "hold", str(SITE), "r01-n01", "--why", "DIMM swap", "--for", "2h"])
    assert (held.exit_code, "r01-n01 is held by" in held.stdout) == (0, True), held.output
    shown = json.loads(runner.invoke(app, ["bmc", "holds", str(SITE), "--json"]).stdout)["held"]
    assert [(entry["node"], entry["why"]) for entry in shown] == [("r01-n01", "DIMM swap")]
    assert runner.invoke(app, ["bmc", "hold", str(SITE), "r01-n01", "--why", "x", "--for", "soon"]).exit_code == 2
    assert "was held by" in runner.invoke(app, ["bmc", "release", str(SITE), "r01-n01"]).stdout
    assert "nobody holds" in runner.invoke(app, ["bmc", "holds", str(SITE)]).stdout
    assert runner.invoke(app, ["bmc", "release", str(SITE), "r09-n09"]).exit_code == 2


def test_a_retired_nodes_bmc_is_expected_and_may_be_gone(plan: SitePlan) -> None:
    """It has power as long as it stands in the hall; carried out, it is neither silent nor missed."""
    first, *others = plan.nodes
    without = replace(plan, nodes=tuple(others), retired=(first,))
    everybody = found_of(plan)
    assert {place.answer for place in compare(without, everybody, [bmc.address for bmc in everybody]).places} == {
        "expected"
    }
    gone = compare(without, everybody[1:], [bmc.address for bmc in everybody])
    assert {place.answer for place in gone.places} == {"expected"}
    assert first.name not in {place.node for place in gone.places}
