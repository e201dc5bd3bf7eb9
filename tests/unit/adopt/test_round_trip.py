"""Sites of the project, exported in the form of each source and adopted: the plan is the one that they came from."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from coldaisle.adopt.compare import differences
from coldaisle.adopt.draft import draft
from coldaisle.adopt.facts import SOURCES
from coldaisle.adopt.outcome import new_spec
from coldaisle.adopt.site import adopted
from coldaisle.adopt.told import plain, unknowns
from coldaisle.adopt.write import files
from coldaisle.plan import plan_site
from coldaisle.plan.model import SitePlan
from coldaisle.render.ansible import inventory
from coldaisle.render.digests import play_hosts
from coldaisle.spec import load_site
from components.provider.changes import detailed
from tests.unit.adopt.adopting import EVERY, exported, filled, from_netbox, lay, site, understood

EXAMPLES = ("sim", "rehearsal", "h100-pod", "b200-roce", "gb200-nvl72")


def cables(plan: SitePlan) -> dict[str, set[tuple[str | None, ...]]]:
    """Return the cables of each fabric: both ends with their ports and addresses."""
    return {
        name: {(c.a.device, c.a.port, c.b.device, c.b.port, c.a_address, c.b_address) for c in fabric.cables}
        for name, fabric in plan.fabrics.items()
    }


def places(plan: SitePlan) -> set[tuple[object, ...]]:
    """Return name, system, place, addresses and MACs of each node, and name, place and numbers of each switch."""
    nodes = {
        (node.name, node.system, node.rack, node.rack_unit, node.management_address, node.bmc and node.bmc.address,
         node.bmc and node.bmc.mac, *((nic.name, nic.address, nic.mac, nic.rail, nic.mtu_bytes) for nic in node.nics))
        for node in plan.nodes
    }  # fmt: skip
    switches = {
        (it.name, it.model, it.role, it.rack, it.rack_unit, it.rail, it.asn, it.loopback, it.management_address)
        for fabric in plan.fabrics.values()
        for it in fabric.switches
    }
    return nodes | switches


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_netbox_knows_is_planned_as_it_is(name: str, tmp_path: Path) -> None:
    """Nodes, switches, ports, addresses and cables of an adopted site are those of the site, to the last one."""
    _, spec = from_netbox(name)
    plan, before = plan_site(filled(spec, name, tmp_path)), site(name)[1]
    assert places(plan) == places(before)
    assert cables(plan) == cables(before)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_plan_of_an_adopted_site_is_what_its_sources_say(name: str) -> None:
    """A new spec is held against its sources before anybody has filled in what they lack."""
    estate, spec = from_netbox(name)
    assert estate.merged.problems == ()
    assert differences(draft(spec.sections, estate.catalog, spec.allocations), estate) == ()


@pytest.mark.parametrize("name", EXAMPLES)
def test_files_hold_what_the_spec_is(name: str) -> None:
    """Written files, with their comments, are YAML of the same values."""
    _, spec = from_netbox(name)
    read: dict[str, object] = {}
    for text in files(spec.sections, spec.allocations, ["netbox"]).values():
        read |= yaml.safe_load(text)
    whole = {key: value for key, value in plain(dict(spec.sections)).items() if value}
    assert {key: value for key, value in read.items() if key in whole} == whole


def test_every_source_agrees_about_the_simulated_site(tmp_path: Path) -> None:
    """Eight exports of one site contradict each other in nothing, and each of them tells something."""
    estate = understood("sim", {source: exported("sim", source) for source in EVERY}, tmp_path)
    assert [each.text for each in estate.merged.contradictions] == []
    assert [each.text() for each in estate.merged.problems] == []
    told = {source for fields in estate.merged.values.values() for known in fields.values() for source in known.sources}
    told |= {source for cable in estate.merged.cables for source in cable.sources}
    assert told == set(SOURCES)


def changes(before: SitePlan, after: SitePlan) -> dict[str, dict[str, str]]:
    """Return what the provider's own diff shows of each play, with the hosts of a plan as they were recorded."""
    recorded, planned = play_hosts(before), play_hosts(after)
    names = sorted({*recorded, *planned})
    found = {name: detailed({"hosts": recorded.get(name, {})}, {"hosts": planned.get(name, {})}) for name in names}
    return {name: paths for name, paths in found.items() if paths}


def test_an_adopted_simulated_site_has_an_empty_preview(tmp_path: Path) -> None:
    """
    Every host of every play has the variables, the facts and the digest that its resource recorded before.

    A site of which one address is another shows that host, in the plays that take it.
    """
    estate = understood("sim", {source: exported("sim", source) for source in EVERY}, tmp_path)
    plan = plan_site(filled(adopted(estate, "sim"), "sim", tmp_path / "sim"))
    before = site("sim")[1]
    assert inventory(plan)["all"]["hosts"] == inventory(before)["all"]["hosts"]
    assert [(play.name, play.playbook, play.after) for play in plan.plays] == [
        (play.name, play.playbook, play.after) for play in before.plays
    ]
    assert changes(before, plan) == {}
    moved = (tmp_path / "sim" / "allocations.yaml").read_text(encoding="utf-8").replace("198.18.1.101", "198.18.1.191")
    (tmp_path / "sim" / "allocations.yaml").write_text(moved, encoding="utf-8")
    shown = changes(before, plan_site(load_site(tmp_path / "sim")))
    assert any('hosts["r01-n01"]' in path for paths in shown.values() for path in paths)


def test_gaps_name_what_no_source_tells() -> None:
    """Breakers' volts, credentials and coolers are nobody's: they are in the list, and not in the spec."""
    estate, spec = from_netbox("sim")
    found = {each.path: each.gap for each in unknowns(spec.sections)}
    feeds = "facility.halls[0].rows[0].racks[0].power_feeds"
    assert found[f"{feeds}[0].voltage_reference"].required
    assert {"facility.cooling", "site.bmc_credentials", "site.admin_key_file", "node_pools.guests.rdma"} <= set(found)
    assert all(gap.look and gap.write and gap.what for gap in found.values())
    assert "voltage_reference" not in str(plain(dict(spec.sections)))
    text = new_spec(estate, "sim", ["netbox"]).files["facility.yaml"]
    assert "# unknown: voltage_reference: line-to-line" in text


def test_a_cluster_and_maas_together_need_no_netbox(tmp_path: Path) -> None:
    """Without NetBox, names, addresses and MACs are kept; racks and cables are gaps, not guesses."""
    sources = {source: exported("sim", source) for source in ("maas", "kubernetes", "redfish")}
    outcome = new_spec(understood("sim", sources), "sim", sources)  # type: ignore[arg-type]  # three of the sources
    lay(tmp_path, outcome.files)
    read = yaml.safe_load((tmp_path / "allocations.yaml").read_text(encoding="utf-8"))
    before = site("sim")[1]
    assert read["management"] == {node.name: node.management_address for node in before.nodes}
    pools = yaml.safe_load((tmp_path / "node_pools.yaml").read_text(encoding="utf-8"))["node_pools"]
    assert {name: pool["role"] for name, pool in pools.items()} == {"guests": "serving", "light": "serving"}
    gaps = {each.path for each in outcome.unknowns if each.gap.required}
    assert {f"node_pools.guests.nodes.{name}" for name in ("r01-n01", "r02-n01")} <= gaps
