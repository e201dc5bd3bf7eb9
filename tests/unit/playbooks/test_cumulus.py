"""Trials of a Cumulus Linux switch against exchanges from NVIDIA's documentation: no device has answered."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import cumulus, switch_life
from ansible_collections.coldaisle.site.plugins.module_utils.cumulus_sections import sections, sections_of
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.switch_life import read_switch

from tests.unit.playbooks.replay import PASSWORD, SECRET, Exchange, Replay, login_file

GOLDEN = Path(__file__).parents[1] / "switch_configs" / "b200-roce.leaf01.nvue.yaml"


def _shorten(request: httpx.Request) -> dict[str, Any]:
    path = request.url.raw_path.decode()
    assert (request.url.port, path.startswith("/nvue_v1/")) == (8765, True)
    sent = {"json": json.loads(request.content)} if request.content else {}
    return {"do": f"{request.method} {path.removeprefix('/nvue_v1')}", **sent}


def _answer(exchange: Exchange) -> Any:  # noqa: ANN401 - JSON
    return exchange["body"]


@pytest.fixture
def replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Replay:
    """Return the exchanges with NVUE, short waits, and every log on."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(switch_life, "RETRY_S", 0.01)
    monkeypatch.setattr(cumulus, "POLL_S", 0.01)
    return Replay("cumulus", _shorten, _answer, login_file(tmp_path))


def test_the_planned_configuration_changes_nothing(replay: Replay) -> None:
    """Where all is applied as planned, no revision is made."""
    answer = replay.tries("no_change")
    assert (answer["changed"], answer["token"], answer["sections"]) == (False, "", [])


@pytest.mark.parametrize("confirm", ["confirm", "confirm_saved_by_itself"])
def test_a_change_is_tried_then_kept(replay: Replay, caplog: pytest.LogCaptureFixture, confirm: str) -> None:
    """Parts that differ are replaced, unplanned ones go, planned sessions are remembered, nothing secret is told."""
    trial = replay.tries("removed")
    assert sorted(trial["sections"]) == ["bridge", "interface swp1", "interface swp8", "interface swp9"]
    assert trial["trial"]["sessions"] == ["10.0.0.1", "swp2"]
    kept = replay.keeps(confirm, trial)
    assert kept["changed"]
    told = json.dumps([trial, kept]) + caplog.text
    assert SECRET not in told
    assert PASSWORD not in told


def test_unplanned_sections_may_stay(replay: Replay) -> None:
    """With `keep`, parts that no plan has are left as they are."""
    trial = replay.tries("kept_extra", keep_extra=True)
    assert trial["sections"] == ["interface swp1"]
    assert replay.keeps("confirm_kept_extra", trial)["changed"]


def test_check_mode_leaves_the_switch_alone(replay: Replay) -> None:
    """Check mode tells the same sections, and forgets its revision."""
    answer = replay.tries("check_mode", check=True)
    assert (answer["changed"], answer["token"], len(answer["sections"])) == (True, "", 4)


def test_a_short_silence_is_waited_for(replay: Replay) -> None:
    """While a switch changes its own ports, it may be out of reach for a moment."""
    assert replay.tries("applied_after_a_silence")["token"].startswith("changeset/")


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        ("refused_line", "NVUE refuses the configuration: 9216 is greater .* nothing was changed"),
        ("invalid", r"NVUE does not apply the configuration \(invalid\): swp1: mtu exceeds .* nothing was changed"),
        ("lost_at_commit", r"gives no answer.*within 120 s it takes its old configuration back"),
    ],
)
def test_what_is_not_put_in_force_is_told(replay: Replay, scenario: str, told: str) -> None:
    """A setting that NVUE refuses or finds wrong with others, and a switch that falls silent."""
    with pytest.raises(FactError, match=told) as error:
        replay.tries(scenario)
    assert not replay.left
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        ("lost_session", "sessions that were up did not come back: 10.0.0.1: the old configuration is back"),
        ("not_taken", "the switch did not take bridge, interface swp1, interface swp8, interface swp9 as written"),
        ("timer_ran_out", "the trial's time ran out, and the switch has taken its old configuration back"),
        ("lost_contact", "gives no answer: timed out .* unless it was kept by then, the switch takes its old"),
    ],
)
def test_what_is_not_kept_is_told(replay: Replay, scenario: str, told: str) -> None:
    """A session that stays away, a part that was not taken, a timer that ran out, and a switch out of reach."""
    trial = replay.tries("removed")
    with pytest.raises(FactError, match=told):
        replay.keeps(scenario, trial)
    assert not replay.left


def test_sections_are_read_as_facts(replay: Replay) -> None:
    """Facts are the fabric's sections, each port by itself; users, time and the management network are none."""
    seen, errors = read_switch(replay.switch("read"), ["config.interface swp9", "config_sections"])
    assert seen == {
        "config.interface swp9": "description by hand\ntype swp",
        "config_sections": "bridge, interface eth0, interface swp1, interface swp8, interface swp9, router, "
        "service lldp, system hostname, vrf default",
    }
    assert not errors


def test_sections_have_one_spelling() -> None:
    """Order, numbers as text, and names of several ports do not matter; null is nothing."""
    one = sections("- set:\n    interface:\n      swp1-2: {link: {mtu: 9216}}\n      vlan10,20: {type: svi}\n")
    other = {"swp2": {"link": {"mtu": "9216", "fec": None}}, "swp1": {"link": {"mtu": 9216}}}
    vlans = {f"vlan{number}": {"type": "svi"} for number in (10, 20)}
    assert one == sections_of({"interface": {**other, **vlans}, "system": {"timezone": "Etc/UTC"}})


def test_a_written_configuration_is_all_sections() -> None:
    """Every branch of a configuration that the project writes is in a section."""
    found = sections(GOLDEN.read_text(encoding="utf-8"))
    kinds = {name.partition(" ")[0] for name in found}
    assert kinds == {"interface", "qos", "router", "service", "system", "vrf"}
    assert "neighbor" in found["vrf default"]


def test_f11_what_the_chip_does_is_read_beside_the_configuration(replay: Replay) -> None:
    """F11: the map and PFC that are in effect are facts of their own, from NVUE's operational view."""
    seen, errors = read_switch(replay.switch("effective"), ["effective.dscp", "effective.pfc"])
    assert (seen, errors) == ({"effective.dscp": "3: 24-31; 6: 48", "effective.pfc": "3"}, {})
