"""Which switches a playbook configures, how each is reached, and what a preview shows of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from coldaisle.plan import plan_site
from coldaisle.plan.model import SitePlan
from coldaisle.plan.plays import configured_switches, why_not_configured
from coldaisle.render.ansible import inventory
from coldaisle.render.digests import play_hosts
from coldaisle.spec import load_site
from coldaisle.spec.fabrics import SwitchAccess
from tests.unit.test_switch_configs import INVENTORY, on_arista, plan_of, with_fabrics

ACCESS = SwitchAccess(credentials="file:~/.config/switches.yaml", ca_file="~/ca.pem")


@cache
def reached(system: str) -> SitePlan:
    """Return the plan of a site whose compute fabric runs a system and says how its switches are reached."""
    spec = load_site(INVENTORY / "b200-roce")
    fabric = spec.fabrics["compute"]
    fabric = on_arista(fabric) if system == "eos" else fabric.model_copy(update={"network_os": system})
    return plan_site(with_fabrics(spec, {"compute": fabric.model_copy(update={"switch_access": ACCESS})}))


@pytest.mark.parametrize("system", ["cumulus", "eos", "sonic"])
def test_without_access_there_is_no_play(system: str) -> None:
    """Sites that do not say how their switches are reached keep their plays, groups and previews."""
    plan = plan_of("b200-roce", system)
    assert "fabric" not in {play.playbook for play in plan.plays}
    assert "api_switches" not in inventory(plan)["all"]["children"]


@pytest.mark.parametrize(("system", "section"), [("cumulus", "config.vrf default"), ("eos", "config.router bgp ")])
def test_a_fabric_with_access_has_a_play(system: str, section: str) -> None:
    """Every switch has its sections, the way to it is in its variables, and no secret is anywhere."""
    plan = reached(system)
    names = {switch.name for switch in configured_switches(plan.fabrics["compute"])}
    hosts = play_hosts(plan)["fabric-compute"]
    assert names == hosts.keys() == inventory(plan)["all"]["children"]["api_switches"]["hosts"].keys()
    assert any(name.startswith(section) for name in hosts["leaf02"]), sorted(hosts["leaf02"])
    variables = inventory(plan)["all"]["hosts"]["leaf02"]
    assert variables["read_switch_access"] == {
        "system": system,
        "address": "10.32.12.16",
        "port": None,
        "credentials": "file:~/.config/switches.yaml",
        "ca_file": str(Path.home() / "ca.pem"),
    }
    assert "ansible_host" not in variables


@pytest.mark.parametrize("system", ["cumulus", "eos", "sonic"])
def test_another_plan_is_not_another_configuration(system: str) -> None:
    """What is applied does not name the plan's hash: a change elsewhere leaves every switch's play alone."""
    plan = reached(system)
    other = replace(plan, domain="elsewhere.example")
    assert play_hosts(plan)["fabric-compute"] == play_hosts(other)["fabric-compute"]


def test_unplanned_sections_are_facts_where_they_go() -> None:
    """`config_sections` is a fact where unplanned sections are removed, and none where they stay."""
    plan = reached("eos")
    kept = replace(plan.fabrics["compute"], unplanned_config="keep")
    assert "config_sections" in play_hosts(plan)["fabric-compute"]["leaf01"]
    plan = replace(plan, fabrics={**plan.fabrics, "compute": kept})
    assert "config_sections" not in play_hosts(plan)["fabric-compute"]["leaf01"]


@pytest.mark.parametrize(
    ("system", "told"), [("cumulus", {"dscp", "pfc"}), ("sonic", {"dscp", "pfc"}), ("eos", {"dscp"})]
)
def test_f11_what_the_chip_must_do_is_a_fact(system: str, told: set[str]) -> None:
    """F11: the map that must be in effect is compared beside the configuration's, of what each system tells."""
    found = play_hosts(reached(system))["fabric-compute"]["leaf02"]
    wanted = {"effective.dscp": "3: 26; 6: 48", "effective.pfc": "3"}
    assert {key: value for key, value in found.items() if key.startswith("effective.")} == {
        f"effective.{name}": wanted[f"effective.{name}"] for name in told
    }
    variables = inventory(reached(system))["all"]["hosts"]["leaf02"]
    assert variables.get("fabric_facts", wanted) == wanted


def test_sonic_is_reached_over_ssh() -> None:
    """SONiC's switches are in the group of those on SSH, with its own user, who becomes root there."""
    plan = reached("sonic")
    everything = inventory(plan)["all"]
    names = {switch.name for switch in configured_switches(plan.fabrics["compute"])}
    assert everything["children"]["switches"]["hosts"].keys() == names
    variables = everything["hosts"]["leaf02"]
    assert (variables["fabric_system"], variables["ansible_user"], variables["ansible_become"]) == (
        "sonic",
        "admin",
        True,
    )
    assert "config.DEVICE_METADATA|localhost|hostname" in play_hosts(plan)["fabric-compute"]["leaf02"]
    assert "FEATURE" not in str(play_hosts(plan)["fabric-compute"]["leaf02"]["config_sections"])


def test_sonic_without_lanes_is_told() -> None:
    """Where there is no configuration of SONiC, no play has the switch, and the reason is the renderer's."""
    plan = reached("sonic")
    fabric = plan.fabrics["compute"]
    blind = {role: tuple(replace(port, chip_lanes=()) for port in ports) for role, ports in fabric.ports.items()}
    fabric = replace(fabric, ports=blind)
    assert configured_switches(fabric) == []
    assert "which lanes of its chip" in str(why_not_configured(fabric, fabric.switches[0]))
