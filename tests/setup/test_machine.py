"""Packages, virtual environment, progress and doctor on machines of several kinds."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from coldaisle.toolchain import commands, debian, doctor, golang, pins, venv
from coldaisle.toolchain.errors import LACKING, USAGE, SetupError
from coldaisle.toolchain.locks import one_at_a_time
from coldaisle.toolchain.places import project_root
from coldaisle.toolchain.progress import Display, expected_s, minutes

if TYPE_CHECKING:
    from pathlib import Path

    from coldaisle.toolchain.store import Store
    from tests.setup.conftest import Machine


def test_packages_are_told_by_what_they_bring_where_there_is_no_dpkg(machine: Machine) -> None:
    """On a system that is not Debian a program on PATH counts as its package."""
    before = debian.missing()
    machine.program("ipmitool", "")
    assert set(before) - set(debian.missing()) == {"ipmitool"}


def test_without_apt_the_message_lists_what_to_install(machine: Machine) -> None:
    """Nothing is tried on a system without apt: the message names the packages."""
    assert machine.bin.is_dir()
    with pytest.raises(SetupError) as caught:
        debian.install(["frr", "socat"])
    assert (caught.value.exit_code, caught.value.have) == (LACKING, "no apt-get")
    assert caught.value.fix == "install what these Debian packages hold: frr socat"


def test_without_root_the_message_is_a_command(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who is not root gets the command to hand to someone who is."""
    machine.program("apt-get", "")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SetupError) as caught:
        debian.install(["frr"])
    assert caught.value.fix == "as root: apt-get install --no-install-recommends frr"


@pytest.mark.parametrize("owners", [True, False])
def test_services_are_kept_from_starting(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    owners: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    """While packages are installed Debian's policy says no; an owner's own policy is left as it is."""
    policy = machine.root / "policy-rc.d"
    if owners:
        policy.write_text("the owner's")
    monkeypatch.setattr(debian, "_POLICY", policy)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    machine.script("apt-get", f'#!/bin/sh\ncat "{policy}" >> "{machine.log}"\n')
    machine.script("dpkg", "#!/bin/sh\necho /lib/systemd/system/frr.service\n")
    machine.script("systemctl", f'#!/bin/sh\necho "systemctl $*" >> "{machine.log}"\n')
    debian.install(["frr"])
    log = machine.log.read_text()
    assert log.count("the owner's" if owners else "exit 101") == 2
    assert "systemctl disable -q frr.service" in log
    assert policy.exists() is owners


def test_a_failing_apt_names_the_command(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed installation says which command to try by hand."""
    monkeypatch.setattr(debian, "_POLICY", machine.root / "policy-rc.d")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    machine.script("apt-get", "#!/bin/sh\nexit 100\n")
    with pytest.raises(SetupError, match="could not install") as caught:
        debian.install(["frr"])
    assert caught.value.fix.endswith("install -q -y --no-install-recommends frr")
    assert not (machine.root / "policy-rc.d").exists()


def test_an_environment_is_ready_only_with_todays_lock(tmp_path: Path) -> None:
    """The key is written last, so an interrupted environment, or one of another lock, is not ready."""
    assert not venv.ready(tmp_path)
    (tmp_path / venv.KEY_FILE).write_text(venv.wanted_key())
    assert venv.ready(tmp_path)
    (tmp_path / venv.KEY_FILE).write_text(f"{venv.wanted_key()} of yesterday")
    assert not venv.ready(tmp_path)


def test_a_second_process_waits_for_the_first(tmp_path: Path) -> None:
    """The one that waits says for whom, and goes on as soon as the first is done."""
    lock = tmp_path / "up.lock"
    take = "\n".join(
        [
            "import pathlib",
            "from coldaisle.toolchain.locks import one_at_a_time",
            f"with one_at_a_time(pathlib.Path({str(lock)!r}), 'up'):",
            "    pass",
        ]
    )
    with one_at_a_time(lock, "up"):
        second = subprocess.Popen([sys.executable, "-c", take], cwd=project_root(), stderr=subprocess.PIPE, text=True)
        assert second.stderr is not None
        assert second.stderr.readline() == f"up: process {os.getpid()} is at it; waiting for it to end\n"
        assert second.poll() is None
    assert second.wait(timeout=30) == 0


def test_time_to_go_follows_how_fast_this_machine_is(machine: Machine, store: Store) -> None:
    """After a tool that took a tenth of what the table says, the rest is expected to take a tenth as well."""
    etcd, kwok = pins.tool("etcd"), pins.tool("kwok")
    display = Display(store, [etcd, kwok], out=io.StringIO())
    everything = expected_s([etcd, kwok])
    assert display.left_s(10.0) == pytest.approx(everything - 10.0)
    store.root.mkdir(parents=True)
    store.accept(etcd, machine.program("etcd", "", folder=store.root))
    display.show()
    assert display.left_s(expected_s([etcd]) / 10) == pytest.approx(expected_s([kwok]) / 10)


def test_a_log_gets_whole_lines(machine: Machine, store: Store) -> None:
    """Where there is no terminal, progress is a line at a time, with what is ready, left and expected."""
    out = io.StringIO()
    etcd, kwok = pins.tool("etcd"), pins.tool("kwok")
    display = Display(store, [etcd, kwok], out=out, printed=-1000.0)
    store.root.mkdir(parents=True)
    store.note({"tool": "kwok", "since": time.time() - 75, "pid": 1})
    store.accept(etcd, machine.program("etcd", "", folder=store.root))
    display.show()
    ready, status = out.getvalue().splitlines()
    assert ready == "tools: ready etcd 3.6.16"
    assert status.startswith("tools: building kwok (75 s); 1 of 2 tools ready; 0 s so far, about ")
    assert "\r" not in out.getvalue()


def test_minutes_are_for_people() -> None:
    """Short times are in seconds, longer ones in minutes."""
    assert [minutes(0.4), minutes(89), minutes(600)] == ["0 s", "89 s", "10 min"]


def test_doctor_says_what_no_go_costs(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Go and tools the report is not clean, and says which tools cannot be had and what to install."""
    assert machine.bin.is_dir()
    checks = doctor.examine()
    (go,) = [each for each in checks if each.name == "Go"]
    assert (go.status, doctor.exit_code(checks)) == ("missing", LACKING)
    assert "kube-apiserver" in go.cost
    assert go.fix.startswith("install Go 1.21")
    machine.go()
    monkeypatch.setattr(golang, "USUAL_PLACES", "")
    assert [each.status for each in doctor.examine() if each.name == "Go"] == ["ok"]


def test_doctor_lists_every_tool_with_its_cost(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    """Each tool is one check; a missing one says what cannot be done and how long its build takes."""
    machine.go()
    commands.main(["doctor", "--json"])
    report = json.loads(capsys.readouterr().out)
    tools = {each["name"]: each for each in report["checks"] if each["area"] == "tools"}
    assert tools.keys() == {each.name for each in pins.TOOLS}
    assert tools["pulumi"]["cost"].startswith("no previews and updates of any stack; about ")
    assert report["schema_version"] == doctor.SCHEMA_VERSION


def test_doctor_marks_what_is_missing(machine: Machine) -> None:
    """The text puts cost and fix under each missing thing, and counts them."""
    assert machine.bin.is_dir()
    text = doctor.to_text(doctor.examine())
    assert "  MISSING         Go " in text
    assert "fix:  install Go 1.21 or newer" in text
    assert text.splitlines()[-1].endswith("to be made by `make up`")


def test_unknown_commands_show_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """A command that does not exist prints those that do, and exits as wrong usage."""
    assert commands.main(["upp"]) == USAGE
    assert "remove every trace of the simulated site" in capsys.readouterr().err


def test_makefile_targets_are_few_and_short() -> None:
    """The Makefile stays a table of contents: at most twelve targets, each one line with its help."""
    lines = (project_root() / "Makefile").read_text().splitlines()
    targets = [line for line in lines if ": ;" in line]
    assert len(targets) <= 12
    assert all("## " in line for line in targets)
