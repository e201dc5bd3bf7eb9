"""The roles on simulated hosts: check mode is truthful, a second run changes nothing, and the hosts are as planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from coldaisle.drift.equality import same
from coldaisle.plan import plan_site
from coldaisle.plan.plays import host_facts
from coldaisle.spec import load_site, site_folder

if TYPE_CHECKING:
    from tests.roles.conftest import Play

LIGHT, GUEST = "r01-n02", "r01-n01"
PLAYBOOKS = ("bmc", "os", "gpu", "kubernetes")


def _changed(report: dict[str, Any], host: str) -> int:
    return int(report["stats"][host]["changed"])


@pytest.mark.parametrize("playbook", PLAYBOOKS)
def test_second_run_changes_nothing(play: Play, playbook: str) -> None:
    """A playbook that has run finds nothing to do, and its check mode says the same."""
    play(playbook, LIGHT)
    assert _changed(play(playbook, LIGHT, "--check"), LIGHT) == 0
    assert _changed(play(playbook, LIGHT), LIGHT) == 0


def test_provisioner_is_settled(play: Play) -> None:
    """The provisioner's second run changes nothing."""
    play("pxe", "prov01")
    assert _changed(play("pxe", "prov01"), "prov01") == 0


def test_check_mode_says_what_a_run_would_change(play: Play) -> None:
    """A port's MTU that was changed by hand shows in check mode, stays as it is, and is repaired by a run."""
    play("os", LIGHT)
    _set_mtu(play, 1400)
    assert _changed(play("os", LIGHT, "--check"), LIGHT) == 1
    assert _read(play, LIGHT, ["mtu.rail0"]) == {"mtu.rail0": 1400}
    assert _changed(play("os", LIGHT), LIGHT) == 1
    assert _read(play, LIGHT, ["mtu.rail0"]) == {"mtu.rail0": 9000}


@pytest.mark.parametrize("host", [LIGHT, GUEST])
def test_host_is_as_planned(play: Play, host: str) -> None:
    """Every fact of the plan is read from the host, its BMC and the cluster, and fits."""
    plan = plan_site(load_site(site_folder("sim")))
    node = next(node for node in plan.nodes if node.name == host)
    planned = {name: value for facts in host_facts(plan, node).values() for name, value in facts.items()}
    seen = _read(play, host, list(planned))
    assert [name for name, value in planned.items() if not same(name, value, seen.get(name))] == []


def _read(play: Play, host: str, names: list[str]) -> dict[str, Any]:
    """Return the facts that read.yml reads."""
    report = play("read", host, "--extra-vars", '{"read_facts": ["' + '", "'.join(names) + '"]}')
    found: dict[str, Any] = {}
    for task in report["plays"][0]["tasks"]:
        found |= task["hosts"].get(host, {}).get("facts", {})
    return found


def _set_mtu(play: Play, mtu_bytes: int) -> None:
    """Change the MTU of a port behind the plan's back."""
    play("../tests/roles/set_mtu", LIGHT, "--extra-vars", f"mtu_bytes={mtu_bytes}")
