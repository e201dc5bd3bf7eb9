"""Bill of materials, port maps and address tables: whole, counted, and in three forms that say the same."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections import Counter
from ipaddress import ip_interface

import pytest

from coldaisle.check import CheckedSite, open_site
from coldaisle.cli import main
from coldaisle.render.fabric.addresses import address_table
from coldaisle.render.fabric.bom import bill_of_materials, spares_of
from coldaisle.render.fabric.listing import Listing
from coldaisle.render.fabric.ports import port_map
from tests.unit.test_cabling_pack import folder


@pytest.fixture(scope="module")
def pod() -> CheckedSite:
    """Return the site of four scalable units, whose compute fabric is InfiniBand."""
    return open_site(folder("h100-pod"))


def dicts(listing: Listing) -> list[dict[str, object]]:
    """Return the rows of a listing by column."""
    return [dict(zip(listing.columns, row, strict=True)) for row in listing.rows]


def test_a_port_map_has_each_port_once_and_each_cable_at_its_switches(pod: CheckedSite) -> None:
    """Every port of every switch is there once; the used ones are the ends of all cables at switches, and no others."""
    rows = dicts(port_map(pod.spec, pod.plan))
    assert len({(row["switch"], row["port"]) for row in rows}) == len(rows)
    assert Counter(row["switch"] for row in rows) == {
        switch.name: switch.ports for fabric in pod.plan.fabrics.values() for switch in fabric.switches
    }
    own = {(name, switch.name) for name, fabric in pod.plan.fabrics.items() for switch in fabric.switches}
    ends = {
        (near.device, near.port, far.device, far.port, cable.length_m)
        for name, fabric in pod.plan.fabrics.items()
        for cable in fabric.cables
        for near, far in ((cable.a, cable.b), (cable.b, cable.a))
        if (name, near.device) in own
    }
    used = [row for row in rows if row["state"] == "used"]
    assert {tuple(row[key] for key in ("switch", "port", "peer", "peer_port", "length_m")) for row in used} == ends
    assert all(row["peer"] is None and row["link_gbps"] is None for row in rows if row["state"] == "free")


def test_a_port_map_tells_broken_out_ports() -> None:
    """A part of a port says which cage it is in, and into how many parts that is broken out."""
    site = open_site(folder("b200-roce"))
    rows = [row for row in dicts(port_map(site.spec, site.plan, "compute")) if row["switch"] == "leaf01"]
    assert [(row["port"], row["cage"], row["split"]) for row in rows[:3]] == [
        ("swp1s0", 1, 2), ("swp1s1", 1, 2), ("swp2s0", 2, 2),
    ]  # fmt: skip
    assert {row["split"] for row in rows[64:]} == {1}


def test_tenants_networks_are_in_both_tables() -> None:
    """A tenant's gateway is an address, and a port of a tenant has its VLANs, the untagged one marked."""
    site = open_site(folder("b200-roce"))
    overlay = site.plan.fabrics["inband"].overlay
    assert overlay is not None
    gateways = [row for row in dicts(address_table(site.plan, "inband")) if row["kind"] == "gateway"]
    wanted = {(f"{one.tenant}:{one.name}", f"vlan{one.vlan}", one.gateway) for one in overlay.networks if one.gateway}
    assert {(row["device"], row["port"], row["address"]) for row in gateways} == wanted != set()
    shown = {(row["switch"], row["port"]): row["vlans"] for row in dicts(port_map(site.spec, site.plan, "inband"))}
    for port in overlay.ports:
        vlans = str(shown[port.port.device, port.port.port])
        assert [int(each.split()[0]) for each in vlans.split(", ")] == [*filter(None, [port.untagged]), *port.tagged]
        assert (" untagged" in vlans) == (port.untagged is not None)


def test_an_address_table_has_every_address_once(pod: CheckedSite) -> None:
    """Links, loopbacks, management ports, nodes and BMCs are all there, and no address is there twice."""
    rows = dicts(address_table(pod.plan))
    found = Counter(str(ip_interface(str(row["address"])).ip) for row in rows)
    assert [address for address, count in found.items() if count > 1] == []
    links = {a for one in pod.plan.fabrics.values() for c in one.cables for a in (c.a_address, c.b_address) if a}
    others = {s.loopback for one in pod.plan.fabrics.values() for s in one.switches if s.loopback}
    others |= {s.management_address for one in pod.plan.fabrics.values() for s in one.switches if s.management_address}
    others |= {node.bmc.address for node in pod.plan.nodes if node.bmc} | {n.management_address for n in pod.plan.nodes}
    assert set(found) == {str(ip_interface(each).ip) for each in links} | others


def test_both_ends_of_a_link_name_each_other(pod: CheckedSite) -> None:
    """Two rows of one link have each other's device and port, and share a network."""
    rows = dicts(address_table(pod.plan, "storage"))
    by_end = {(row["device"], row["port"]): row for row in rows}
    linked = [row for row in rows if row["peer"] and row["kind"] in {"switch", "node"}]
    assert len(linked) == 2 * len(pod.plan.fabrics["storage"].cables)
    for row in linked:
        other = by_end[row["peer"], row["peer_port"]]
        assert (other["peer"], other["peer_port"]) == (row["device"], row["port"])
        assert ip_interface(str(row["address"])).network == ip_interface(str(other["address"])).network


def test_a_bill_of_materials_counts_the_plan(pod: CheckedSite) -> None:
    """Switches are the reference table's 32 and 16, cables its 1020 and 1024, and spares come on top."""
    rows = dicts(bill_of_materials(pod.spec, pod.plan, "compute", 2))
    counts: Counter[tuple[object, object]] = Counter()
    for row in rows:
        counts[row["item"], row["kind"]] += int(str(row["count"]))
        assert row["order"] == int(str(row["count"])) + int(str(row["spares"]))
        assert row["spares"] == spares_of(int(str(row["count"])), 2)
    assert (counts["switch", "leaf"], counts["switch", "spine"]) == (32, 16)
    assert (counts["cable", "node-leaf"], counts["cable", "leaf-spine"]) == (1020, 1024)


@pytest.mark.parametrize(
    ("count", "percent", "spares"), [(10, 2, 1), (120, 2, 3), (100, 7, 7), (100, 0, 0), (1, 0.1, 1), (0, 5, 0)]
)
def test_spares_are_rounded_up(count: int, percent: float, spares: int) -> None:
    """A line that is ordered at all has a spare, and a whole number of percent is not rounded to one more."""
    assert spares_of(count, percent) == spares


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[object, str, str]:
    """Run a command and return its exit status and what it printed."""
    monkeypatch.setattr(sys, "argv", ["coldaisle", "fabric", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    out, err = capsys.readouterr()
    return stopped.value.code, out, err


@pytest.mark.parametrize(("command", "key"), [("bom", "order"), ("ports", "ports"), ("addresses", "addresses")])
def test_all_forms_say_the_same_and_name_the_plan(
    command: str, key: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text, CSV and JSON have the same rows, and each names the plan's hash."""
    site = str(folder("base"))
    code, text, _ = run(capsys, monkeypatch, command, site)
    whole = json.loads(run(capsys, monkeypatch, command, site, "--json")[1])
    lines = list(csv.DictReader(io.StringIO(run(capsys, monkeypatch, command, site, "--csv")[1])))
    assert code == 0
    assert f"plan {whole['plan']}" in text
    assert {line.pop("plan") for line in lines} == {whole["plan"]}
    assert lines == [
        {name: "" if value is None else f"{value}" for name, value in row.items()} for row in shown(whole[key])
    ]


def shown(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return rows with figures as people write them."""
    return [{k: f"{v:g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows]


def test_what_cannot_be_shown_is_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown fabric, and two forms at once, end with 2 and a word about what there is."""
    site = str(folder("base"))
    code, out, err = run(capsys, monkeypatch, "ports", site, "--fabric", "nope")
    assert (code, out, err) == (2, "", "there is no fabric nope; known: compute, oob\n")
    assert run(capsys, monkeypatch, "bom", site, "--csv", "--json")[0] == 2
