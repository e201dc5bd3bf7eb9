"""Trials of an EOS switch against exchanges that are written from Arista's documentation: no device has answered."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import switch_life
from ansible_collections.coldaisle.site.plugins.module_utils.eos_sections import sections
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.switch_life import open_switch, read_switch

from tests.unit.playbooks.replay import PASSWORD, SECRET, TOKEN, Exchange, Replay, login_file

GOLDEN = Path(__file__).parents[1] / "switch_configs" / "b200-roce.leaf01.eos.cfg"


def _shorten(request: httpx.Request) -> dict[str, Any]:
    sent = json.loads(request.content)
    assert (request.method, request.url.path) == ("POST", "/command-api")
    assert (sent["jsonrpc"], sent["method"], sent["params"]["version"]) == ("2.0", "runCmds", 1)
    assert sent["params"]["cmds"][0] == "enable"
    text = TOKEN.sub("TOKEN", json.dumps(sent["params"]["cmds"][1:]))
    return {"cmds": json.loads(text), "format": sent["params"]["format"]}


def _answer(exchange: Exchange) -> dict[str, Any]:
    if "error" in exchange:
        return {"jsonrpc": "2.0", "id": "coldaisle", "error": exchange["error"]}
    return {"jsonrpc": "2.0", "id": "coldaisle", "result": [{}, *exchange["result"]]}


@pytest.fixture
def replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Replay:
    """Return the exchanges with EOS, short waits, and every log on."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(switch_life, "RETRY_S", 0.01)
    return Replay("eos", _shorten, _answer, login_file(tmp_path))


def test_the_planned_configuration_changes_nothing(replay: Replay) -> None:
    """What the switch makes of the plan's lines is what it has: the session is given up, and there is no trial."""
    answer = replay.tries("no_change")
    assert (answer["changed"], answer["token"], answer["sections"]) == (False, "", [])


def test_a_change_is_tried_then_kept(replay: Replay, caplog: pytest.LogCaptureFixture) -> None:
    """Sections that differ are named, unplanned ones go, planned sessions are remembered, nothing secret is told."""
    trial = replay.tries("removed")
    assert sorted(trial["sections"]) == ["interface Ethernet1/1", "route-map MINE permit 10", "vlan 30"]
    assert trial["trial"]["sessions"] == ["10.0.0.1"]
    assert {"before": "name by-hand\n", "after": "\n", "before_header": "vlan 30", "after_header": "vlan 30"} in trial[
        "diff"
    ]
    kept = replay.keeps("confirm", trial)
    assert kept["changed"]
    told = json.dumps([trial, kept]) + caplog.text
    assert SECRET not in told
    assert PASSWORD not in told


def test_unplanned_sections_may_stay(replay: Replay) -> None:
    """With `keep`, sections that no plan has are given to the new session as they stand."""
    trial = replay.tries("kept_extra", keep_extra=True)
    assert trial["sections"] == ["interface Ethernet1/1"]
    assert replay.keeps("confirm_kept_extra", trial)["changed"]


def test_check_mode_leaves_the_switch_alone(replay: Replay) -> None:
    """Check mode tells the same sections, and gives its session up."""
    answer = replay.tries("check_mode", check=True)
    assert (answer["changed"], answer["token"], len(answer["sections"])) == (True, "", 3)


def test_a_refused_line_is_quoted(replay: Replay) -> None:
    """A line of the plan that EOS does not take is told with EOS's words, and nothing was changed."""
    with pytest.raises(FactError, match=r"EOS refuses the line 'mtu 9214': Invalid input .*: nothing was changed"):
        replay.tries("refused_line")
    assert not replay.left


def test_a_refused_line_of_the_switch_is_not_shown(replay: Replay, caplog: pytest.LogCaptureFixture) -> None:
    """Where EOS refuses a line of its own, which may hold a secret, it is told of and not quoted."""
    with pytest.raises(FactError, match="a line of its own running configuration, which is not shown") as error:
        replay.tries("refused_line_of_its_own")
    assert not replay.left
    assert SECRET not in f"{error.value} {error.value.__cause__} {caplog.text}"


def test_users_never_go(replay: Replay) -> None:
    """A session that would lose what is not the fabric's is given up before it is in force."""
    with pytest.raises(FactError, match="would change lines that are not the fabric's"):
        replay.tries("users_would_go")
    assert not replay.left


def test_contact_lost_at_the_commit_is_told(replay: Replay) -> None:
    """A switch that falls silent takes its old configuration back by its own timer, and the message says so."""
    with pytest.raises(FactError, match=r"gives no answer.*within 120 s it takes its old configuration back"):
        replay.tries("lost_at_commit")


def test_a_short_silence_is_waited_for(replay: Replay) -> None:
    """While routes change, a switch may be out of reach for a moment."""
    trial = replay.tries("removed")
    assert replay.keeps("confirm_after_a_pause", trial, sessions_s=5)["changed"]


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        ("lost_session", "sessions that were up did not come back: 10.0.0.1: the old configuration is back"),
        ("not_taken", "the switch did not take interface Ethernet1/1, route-map MINE permit 10, vlan 30 as written"),
        ("timer_ran_out", "the trial's time ran out, and the switch has taken its old configuration back"),
        ("lost_contact", "gives no answer: timed out .* unless it was kept by then, the switch takes its old"),
    ],
)
def test_what_is_not_kept_is_told(replay: Replay, scenario: str, told: str) -> None:
    """A session that stays away, a section that was not taken, a timer that ran out, and a switch out of reach."""
    trial = replay.tries("removed")
    with pytest.raises(FactError, match=told):
        replay.keeps(scenario, trial)
    assert not replay.left


def test_sections_are_read_as_facts(replay: Replay) -> None:
    """Facts are the fabric's sections; what else there is on the switch is none of them."""
    switch = replay.switch("read")
    seen, errors = read_switch(switch, ["config.vlan 30", "config.interface Vlan9", "config_sections", "mtu.swp1"])
    assert seen["config.vlan 30"] == "name by-hand"
    assert seen["config.interface Vlan9"] == "absent"
    assert str(seen["config_sections"]).startswith(
        "interface Ethernet1/1, interface Ethernet2/1, interface Management1"
    )
    assert list(errors) == ["mtu.swp1"]


def test_a_switch_that_cannot_be_read_says_why_for_each_fact(replay: Replay) -> None:
    """A silent switch is an error of each fact, not a failure of the read."""
    silent = httpx.MockTransport(lambda _request: httpx.Response(401))
    seen, errors = read_switch(open_switch(replay.access, silent), ["config_sections"])
    assert (seen, errors["config_sections"][:40]) == ({}, "the switch refuses user or password (look at the"[:40])


def test_sections_have_one_spelling() -> None:
    """Order, comments and defaults do not matter; ranges of VLANs and blocks in blocks are told apart."""
    one = sections("vlan 10-11,20\n!\nlldp run\nrouter bgp 65001\n   b\n   a\n   !\n   vrf X\n      rd 1:1\nend\n")
    other = sections(
        "router bgp 65001\n   a\n   b\n   vrf X\n      rd 1:1\nvlan 20\nvlan 10\nvlan 11\nno ip routing vrf X\n"
    )
    assert one == other
    assert one["router bgp 65001"] == "a\nb\nvrf X: rd 1:1"
    assert one["vlan 11"] == "vlan 11"


def test_a_banner_is_no_configuration() -> None:
    """Words of a banner that look like lines of a configuration are none."""
    assert sections("banner motd\ninterface Ethernet1\nhostname x\nEOF\nhostname leaf01\n") == {
        "statements": "hostname leaf01"
    }


def test_a_written_configuration_is_all_sections() -> None:
    """Every line of a configuration that the project writes is in a section: nothing of it is left to chance."""
    text = GOLDEN.read_text(encoding="utf-8")
    found = sections(text)
    lines = {
        line.strip() for line in text.splitlines() if not line.startswith("!") and line.strip() not in {"!", "", "end"}
    }
    told = {part for name, body in found.items() for part in (name, *body.replace(": ", "\n").split("\n"))}
    assert lines - told <= {"lldp run", "lldp timer 30"}


def test_f11_what_the_chip_does_is_read_beside_the_configuration(replay: Replay) -> None:
    """F11: the map that is in effect is a fact of its own, read without the configuration; PFC is none of EOS's."""
    seen, errors = read_switch(replay.switch("effective"), ["effective.dscp", "effective.pfc"])
    assert seen == {"effective.dscp": "3: 26; 6: 48-49"}
    assert list(errors) == ["effective.pfc"]


def test_a_map_that_is_not_shown_is_no_empty_map(replay: Replay) -> None:
    """Where EOS shows no map, nobody can tell, which keeps no other fact from being read."""
    seen, errors = read_switch(replay.switch("no_maps"), ["config.vlan 30", "effective.dscp"])
    assert seen == {"config.vlan 30": "name by-hand"}
    assert errors == {"effective.dscp": "EOS's `show qos maps` shows no Dscp-tc map"}
