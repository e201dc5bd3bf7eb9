"""Trials of a SONiC switch against commands from SONiC's documentation, and the timer that FRR and SONiC share."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.coldaisle.site.plugins.module_utils import facts, run_switch, sonic, switch_systems
from ansible_collections.coldaisle.site.plugins.module_utils.sonic_sections import OURS, SHARED, listed, sections

from tests.unit.playbooks.replay import FOLDER, SECRET

TOKEN = re.compile(r"coldaisle-[0-9a-f]{32}")
GOLDENS = sorted((Path(__file__).parents[1] / "switch_configs").glob("*.config_db.json"))


class Shell:
    """A switch whose commands answer as a scenario says, and whose timers are written down and never start."""

    def __init__(self, folder: Path) -> None:
        """Read the file; a trial is kept in `folder`."""
        text = (FOLDER / "sonic.yaml").read_text(encoding="utf-8")
        assert text.startswith("# Written from the documentation of "), "a replay tells that no device has answered"
        self.content = yaml.load(text, Loader=yaml.CSafeLoader)
        self.left: list[dict[str, Any]] = []
        self.timers: list[str] = []
        self._folder = folder

    def run(self, argv: tuple[str, ...], **_more: object) -> subprocess.CompletedProcess[str]:
        """Answer a command."""
        asked = TOKEN.sub("coldaisle-TOKEN", " ".join(argv)).replace(str(self._folder), "FOLDER")
        assert self.left, f"the scenario is over, and there came {asked}"
        step = self.left.pop(0)
        assert asked == step["ask"]
        out = json.dumps(step["json"]) if "json" in step else step.get("out", "")
        return subprocess.CompletedProcess(argv, step.get("rc", 0), out, step.get("err", ""))

    def start(self, argv: list[str], **_more: object) -> None:
        """Write down a timer: its seconds, and what it would do."""
        self.timers.append(TOKEN.sub("coldaisle-TOKEN", f"{argv[4]} s: {' '.join(argv[7:])}"))

    def does(self, scenario: str, *, check: bool = False, **more: object) -> dict[str, Any]:
        """Run the program on the switch; every command of the scenario must have come."""
        self.left = list(self.content["scenarios"][scenario])
        params = {"system": "sonic", "config": self.content["planned"], "keep_extra": False, "timer_s": 120}
        answer = run_switch.run({**params, "sessions_s": 0, "token": "", **more}, check=check)
        assert not self.left
        return answer


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Return a switch without a trial."""
    found = Shell(tmp_path / "coldaisle")
    monkeypatch.setattr(sonic, "FOLDER", tmp_path / "coldaisle")
    monkeypatch.setattr(subprocess, "run", found.run)
    monkeypatch.setattr(subprocess, "Popen", found.start)
    return found


def test_the_planned_configuration_changes_nothing(shell: Shell) -> None:
    """Where all runs as planned, no checkpoint is taken and no timer started."""
    answer = shell.does("no_change")
    assert (answer["changed"], answer["token"], answer["sections"], shell.timers) == (False, "", [], [])


def test_a_change_is_tried_then_kept(shell: Shell, tmp_path: Path) -> None:
    """Rows that differ are named, unplanned ones go, the platform's fields stay, and nothing secret is told."""
    trial = shell.does("removed")
    assert sorted(trial["sections"]) == ["DEVICE_METADATA|localhost|buffer_model", "PORT|Ethernet0", "VLAN|Vlan30"]
    assert shell.timers == ["720 s: config rollback coldaisle-TOKEN", "120 s: config rollback coldaisle-TOKEN"]
    wanted = tmp_path / "coldaisle" / "wanted.conf"
    assert json.loads(wanted.read_text(encoding="utf-8")) == shell.content["same"]
    assert stat.S_IMODE(wanted.stat().st_mode) == 0o600
    kept = shell.does("confirm", token=trial["token"])
    assert kept == {"changed": True, "sections": []}
    assert SECRET not in json.dumps([trial, kept])
    assert [path.name for path in wanted.parent.iterdir()] == ["wanted.conf"]


def test_unplanned_rows_may_stay(shell: Shell, tmp_path: Path) -> None:
    """With `keep`, rows that no plan has are given back as they stand."""
    trial = shell.does("kept_extra", keep_extra=True)
    assert "VLAN|Vlan30" not in trial["sections"]
    wanted = (tmp_path / "coldaisle" / "wanted.conf").read_text(encoding="utf-8")
    assert json.loads(wanted) == shell.content["kept"]
    assert shell.does("confirm_kept_extra", token=trial["token"])["changed"]


def test_check_mode_leaves_the_switch_alone(shell: Shell, tmp_path: Path) -> None:
    """Check mode tells the same sections and writes nothing."""
    answer = shell.does("check_mode", check=True)
    assert (answer["changed"], answer["token"], len(answer["sections"])) == (True, "", 3)
    assert not (tmp_path / "coldaisle").exists()


def test_a_refused_configuration_is_taken_back(shell: Shell) -> None:
    """What SONiC says of it is told, without the patch that it prints, and the old configuration is back."""
    answer = shell.does("refused_line")
    assert answer["failed"]
    assert re.search(r'Invalid value "9216" in "mtu" element\.: the old configuration is back$', answer["msg"])
    assert SECRET not in json.dumps(answer)


def test_a_rollback_that_fails_is_left_to_the_timer(shell: Shell, tmp_path: Path) -> None:
    """Where even the old configuration is refused, both reasons are told, and the trial stays the timer's."""
    answer = shell.does("refused_and_stuck")
    assert "Data Loading Failed" in answer["msg"]
    assert answer["msg"].endswith("some parts not updated), and the timer tries it again")
    assert (tmp_path / "coldaisle" / "pending").is_file()


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        ("lost_session", "sessions that were up did not come back: 10.0.0.1: the old configuration is back"),
        (
            "not_taken",
            (
                "the switch did not take DEVICE_METADATA|localhost|buffer_model, PORT|Ethernet0, VLAN|Vlan30 "
                "as written: the old configuration is back"
            ),
        ),
    ],
)
def test_what_is_not_kept_is_told(shell: Shell, scenario: str, told: str) -> None:
    """A session that stays away, or a row that was not taken, and the old configuration is put back."""
    token = shell.does("removed")["token"]
    assert shell.does(scenario, token=token) == {"failed": True, "msg": told}


def test_a_trial_whose_timer_ran_out_is_not_kept(shell: Shell, tmp_path: Path) -> None:
    """The timer has taken the trial away, and keeping it is refused."""
    token = shell.does("removed")["token"]
    (tmp_path / "coldaisle" / "pending").unlink()
    assert shell.does("timer_ran_out", token=token) == {"failed": True, "msg": run_switch.RAN_OUT}


def test_sections_are_read_as_facts(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """On SONiC, facts of the configuration are its own and not those of the FRR inside of it."""
    monkeypatch.setattr(sonic, "is_here", lambda: True)
    switch_systems._running.cache_clear()  # noqa: SLF001 - a program reads once, a test process often
    shell.left = list(shell.content["scenarios"]["read"])
    seen, errors = facts.read_facts(["config.VLAN|Vlan30", "config.VLAN|Vlan31", "config_sections"])
    switch_systems._running.cache_clear()  # noqa: SLF001
    assert (seen["config.VLAN|Vlan30"], seen["config.VLAN|Vlan31"], errors) == ("vlanid: 30", "absent", {})
    assert seen["config_sections"] == (
        "BGP_NEIGHBOR|default|10.0.0.1, INTERFACE|Ethernet0, INTERFACE|Ethernet0|10.0.0.0/31, PORT|Ethernet0, "
        "ROUTE_MAP|COLDAISLE|10, VLAN|Vlan30"
    )


def chip_facts(shell: Shell, monkeypatch: pytest.MonkeyPatch, scenario: str, *names: str) -> dict[str, Any]:
    """Return facts of a SONiC switch that answers as a scenario says; each must have been read."""
    monkeypatch.setattr(sonic, "is_here", lambda: True)
    for read in (switch_systems._running, switch_systems._effective):  # noqa: SLF001 - a program reads once
        read.cache_clear()
    shell.left = list(shell.content["scenarios"][scenario])
    seen, errors = facts.read_facts(names)
    for read in (switch_systems._running, switch_systems._effective):  # noqa: SLF001
        read.cache_clear()
    assert (errors, shell.left) == ({}, [])
    return seen


def test_f11_a_map_that_outlived_its_configuration_is_seen(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """F11: after a clearing, the configuration has no map and the chip its old one, and drift tells of both."""
    names = ("config.DSCP_TO_TC_MAP|COLDAISLE", "effective.dscp", "effective.pfc")
    seen = chip_facts(shell, monkeypatch, "qos_cleared", *names)
    assert seen == dict(zip(names, ("absent", "1: 24,26", "none"), strict=True))
    planned = {"effective.dscp": "3: 26; 6: 48", "effective.pfc": "3"}
    assert facts.different(planned, seen) == list(planned)


def test_a_ports_map_wins_over_the_switchs(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ports have a map of their own, the switch's is in effect nowhere; PFC is a bit for each priority."""
    seen = chip_facts(shell, monkeypatch, "qos_in_effect", "effective.dscp", "effective.pfc")
    assert seen == {"effective.dscp": "3: 26; 6: 48", "effective.pfc": "3"}


@pytest.mark.parametrize("golden", GOLDENS, ids=[path.name.partition(".config")[0] for path in GOLDENS])
def test_a_written_configuration_is_all_sections(golden: Path) -> None:
    """Every table that the project writes is the fabric's, but for the one that names the plan."""
    text = golden.read_text(encoding="utf-8")
    assert json.loads(text).keys() - OURS - SHARED == {"COLDAISLE"}
    assert not any(name.startswith("FEATURE") for name in listed(sections(text)))


class System:
    """A system of which one command is real: the one that the timer runs."""

    APPLY_S = 0.4

    def __init__(self, folder: Path) -> None:
        """Keep what there is in a folder."""
        self.FOLDER = folder / "coldaisle"
        self.running = folder / "running"
        self.running.write_text("old\n", encoding="utf-8")

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - functions of a system
        """Return one of the functions that matter little here."""
        plain = {
            "running_text": lambda: self.running.read_text(encoding="utf-8"),
            "sections": lambda text: {"it": text},
            "wanted_text": lambda config, _before, *, keep_extra: config,  # noqa: ARG005
            "is_planned": lambda _config, _peer: True,
            "established": set,
            "remember": lambda _token, _before: None,
            "apply": lambda path: self.running.write_text(path.read_text(encoding="utf-8"), encoding="utf-8"),
            "take_back": lambda _token: ["sh", "-c", f"echo old > {self.running}; echo x >> {self.running}.times"],
            "save": lambda: None,
            "forget": lambda _token: None,
        }
        return plain[name]


def test_the_timer_takes_back_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial that nobody keeps is taken back by the first of its timers alone; a kept or later one by none of them."""
    system = System(tmp_path)
    monkeypatch.setitem(switch_systems.SYSTEMS, "frr", system)
    params = {"system": "frr", "config": "new\n", "keep_extra": False, "timer_s": 0.2, "sessions_s": 0, "token": ""}
    token = run_switch.run(params, check=False)["token"]
    assert system.running.read_text(encoding="utf-8") == "new\n"
    time.sleep(1.0)
    assert system.running.read_text(encoding="utf-8") == "old\n"
    assert (tmp_path / "running.times").read_text(encoding="utf-8") == "x\n"
    assert run_switch.run({**params, "token": token}, check=False)["msg"] == run_switch.RAN_OUT
    token = run_switch.run(params, check=False)["token"]
    assert run_switch.run({**params, "token": token}, check=False)["changed"]
    later = {**params, "config": "newer\n", "timer_s": 3}
    token = run_switch.run(later, check=False)["token"]
    time.sleep(1.0)
    assert system.running.read_text(encoding="utf-8") == "newer\n"
    assert run_switch.run({**later, "token": token}, check=False)["changed"]
