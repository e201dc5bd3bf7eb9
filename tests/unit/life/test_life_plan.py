"""What the plan makes of a node's state: left alone, or in nothing at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.plan.handed_out import handed_out
from coldaisle.render.ansible import host_vars, inventory
from coldaisle.render.digests import play_hosts
from coldaisle.spec.journal import State
from coldaisle.words import LIFE
from tests.unit.life.sites import move

NODE = "r01-n01"
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    "way",
    [("maintenance",), ("repair",), ("enroll",), ("enroll", "inspect"), ("enroll", "inspect", "verify")],
    ids=lambda way: way[-1],
)
def test_a_node_that_somebody_works_on_stays_in_its_plays_and_is_left_alone(site: Path, way: tuple[State, ...]) -> None:
    """Its place in a play is its state: no fact, no digest, so that nothing runs and nothing is compared."""
    before = play_hosts(open_site(site).plan)
    move(site, NODE, *way)
    plan = open_site(site).plan
    found = play_hosts(plan)
    assert {name for name, hosts in found.items() if NODE in hosts} == {
        n for n, hosts in before.items() if NODE in hosts
    }
    assert all(hosts[NODE] == {LIFE: way[-1]} for hosts in found.values() if NODE in hosts)
    for name, hosts in found.items():
        assert hosts | {NODE: None} == before[name] | {NODE: None}


def test_playbooks_do_not_find_a_node_in_maintenance_unless_it_is_asked_for(site: Path) -> None:
    """Its variables are there; the groups that playbooks work on have it only when somebody names it."""
    move(site, NODE, "maintenance")
    plan = open_site(site).plan
    groups = inventory(plan)["all"]["children"]
    assert {name for name, group in groups.items() if NODE in group["hosts"]} == {
        "left_alone",
        "pool_guests",
        "rack_r01",
    }
    asked = inventory(plan, touch=[NODE])["all"]["children"]
    assert {"nodes", "bmc_nodes", "gpu_nodes"} < {name for name, group in asked.items() if NODE in group["hosts"]}


def test_ansible_finds_a_node_in_maintenance_when_the_environment_names_it(site: Path) -> None:
    """COLDAISLE_TOUCH is how somebody asks for it with plain ansible-playbook."""
    move(site, NODE, "maintenance")

    def nodes(touch: str) -> list[str]:
        program = str(Path(sys.executable).with_name("ansible-inventory"))
        variables = {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "PYTHONPATH": str(ROOT), "COLDAISLE_TOUCH": touch}
        command = [program, "-i", str(site), "--list"]
        done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=True)
        found: list[str] = json.loads(done.stdout)["nodes"]["hosts"]
        return found

    assert NODE not in nodes("")
    assert NODE in nodes(f"r99-n01, {NODE}")


def test_back_in_service_everything_is_as_before(site: Path) -> None:
    """Maintenance leaves no trace in what plays do."""
    before = play_hosts(open_site(site).plan)
    move(site, NODE, "maintenance", "in-service")
    assert play_hosts(open_site(site).plan) == before


def test_a_retired_node_is_in_no_play_and_nobody_boots_it(site: Path) -> None:
    """No play, no inventory, no group, no reservation, no boot script; DHCP ignores it and HTTP refuses its script."""
    move(site, NODE, "maintenance", "retired")
    checked = open_site(site)
    plan = checked.plan
    assert checked.findings == ()
    assert [node.name for node in plan.retired] == [NODE]
    assert all(NODE not in hosts for hosts in play_hosts(plan).values())
    assert NODE not in inventory(plan)["all"]["hosts"]
    assert all(NODE not in group["hosts"] for group in inventory(plan)["all"]["children"].values())
    assert all(NODE not in pool.nodes for pool in plan.pools)
    [mac] = [nic.mac for nic in plan.retired[0].nics if nic.name == "mgmt0"]
    files = {file["path"]: file.get("content") or "" for file in host_vars(plan, "prov01")["pxe_files"]}
    dnsmasq, nginx = files["/etc/coldaisle/dnsmasq.conf"], files["/etc/nginx/conf.d/coldaisle.conf"]
    assert [line for line in dnsmasq.splitlines() if str(mac) in line] == [f"dhcp-host={mac},ignore"]
    assert f"location = /boot/{str(mac).replace(':', '-')}.ipxe" in nginx
    assert f"{NODE} may not boot over the network: it is retired" in nginx
    assert not any(NODE in path or str(mac).replace(":", "-") in path for path in files)


def test_the_addresses_of_a_retired_node_stay_its_own(site: Path) -> None:
    """Nobody moves, nobody gets what it had, with and without a file of allocations; what was handed out stays."""
    before = open_site(site)
    had = {node.name: (node.management_address, node.bmc and node.bmc.address) for node in before.plan.nodes}
    move(site, NODE, "maintenance", "retired")
    for _ in range(2):
        after = open_site(site)
        everyone = (*after.plan.nodes, *after.plan.retired)
        assert {node.name: (node.management_address, node.bmc and node.bmc.address) for node in everyone} == had
        assert handed_out(after.spec, after.plan) == handed_out(before.spec, before.plan)
        (site / "allocations.yaml").unlink(missing_ok=True)


def test_a_pool_whose_nodes_are_all_retired_has_no_play(site: Path) -> None:
    """The rest of the site is planned as ever."""
    for name in ("r01-n01", "r02-n01"):
        move(site, name, "maintenance", "retired")
    plan = open_site(site).plan
    assert not [play.name for play in plan.plays if play.name.endswith("-guests")]
    assert [play.name for play in plan.plays if play.name.endswith("-light")]


def test_a_broken_journal_stops_the_plan(site: Path) -> None:
    """A node's state is not guessed: the problem names the line, among all others of the spec."""
    (site / "nodes.jsonl").write_text("<<<<<<< HEAD\n")
    with pytest.raises(Exception, match=r"nodes.jsonl:1:1  \[bad-journal\]"):
        open_site(site)
