"""What fails on one host of four keeps the others, says what to look at, and is finished by the next run."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.terminal import SITE, UP, Terminal, wait_until

pytestmark = pytest.mark.e2e


def urns(site: Terminal) -> list[str]:
    """Return every URN of the state, so that a resource that is there twice shows."""
    return [each["urn"] for each in site.state()["deployment"]["resources"]]


def test_a_task_that_fails_on_one_host_keeps_the_others(site: Terminal) -> None:
    """With a GPU driver below the floor on one host, its play fails by name; the other is done."""
    site.on("r01-n01", "ip link set rail1 mtu 1500")
    site.on("r02-n01", "ip link set rail1 mtu 1500")
    with site.fault("gpu-driver-old", "r02-n01"):
        printed = site.up(expect=None)
        assert "r02-n01" in printed
        assert "535" in printed
        assert site.on("r01-n01", "cat /sys/class/net/rail1/mtu") == "9000"
    site.up()
    site.drift(expect=0)


@pytest.mark.parametrize("fault", ["bmc-wrong-password", "bmc-hang"])
def test_a_bmc_that_does_not_let_us_in_is_said_and_not_drift(site: Terminal, fault: str) -> None:
    """A BMC that refuses the password, or never answers, gives exit 3 with the reason for that node only."""
    with site.fault(fault, "r01-n01"):
        report = site.drift(expect=3)
    silent = [item for item in report["items"] if item["kind"] == "could-not-tell"]
    assert {item["host"] for item in silent} == {"r01-n01"}
    assert all(item["thing"] in {"power", "boot_order"} for item in silent)
    assert report["counts"]["drifted"] == 0


def test_a_slow_bmc_is_waited_for(site: Terminal) -> None:
    """A BMC that answers seconds late is still read."""
    with site.fault("bmc-slow", "r02-n02"):
        site.drift(expect=0)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_in_the_middle_is_finished_by_the_next(
    site: Terminal, tmp_path: Path, ending: signal.Signals
) -> None:
    """After ^C or `kill -9` in a play, the next run repairs what was left, and nothing is in the state twice."""
    before = sorted(urns(site))
    for host in ("r01-n01", "r02-n01"):
        site.on(host, "ip link set rail0 mtu 1500")
    log = tmp_path / "up.log"
    run = site.start(*UP, "--refresh", output=log)
    wait_until(lambda: "os-guests updating" in log.read_text() or run.poll() is not None, 180, "the play has begun")
    assert run.poll() is None, log.read_text()
    os.kill(run.pid, ending)
    assert run.wait(timeout=60) != 0
    if ending is signal.SIGKILL:
        site.run("pulumi", "cancel", "--yes", "--stack", SITE, expect=None)
    site.up()
    assert sorted(urns(site)) == before
    site.drift(expect=0)


def test_two_runs_at_once_do_not_fight(site: Terminal, tmp_path: Path) -> None:
    """While one run holds the stack, a second one stops at once with a message, and the first finishes."""
    first = site.start(*UP, output=tmp_path / "first.log")
    wait_until(lambda: "Updating" in (tmp_path / "first.log").read_text(), 60, "the first run holds the stack")
    second = site.run(*UP, expect=None)
    assert first.wait(timeout=600) == 0
    assert second.returncode != 0
    assert "locked" in second.stderr


@pytest.mark.drill
def test_a_guest_that_never_boots_is_told_from_one_that_is_slow(site: Terminal) -> None:
    """A guest whose firmware finds nothing to boot fails its play by name, and boots once the fault is gone."""
    with site.fault("no-boot", "r02-n01"):
        site.power("r02-n01", "off")
        printed = site.up(expect=None)
        assert "r02-n01" in printed
        assert "unreachable" in printed or "did not answer" in printed
    site.power("r02-n01", "off")
    site.up()
    site.drift(expect=0)
