"""One owner of a node's power: runs, maintenance, and those who are refused."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import bmc_lease
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_lease import (
    HeldError,
    holder,
    maintain,
    maintenance_of,
    power_of,
    release,
)
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import record_path
from ansible_collections.coldaisle.site.plugins.module_utils.steady import Moment, moment

COLLECTIONS = Path(__file__).parents[3] / "playbooks/collections"
NODE = "192.0.2.7"


def run_that_holds() -> subprocess.Popen[str]:
    """Start a process that holds the node's power until it is killed."""
    program = f"""
        import sys, time
        sys.path.insert(0, {str(COLLECTIONS)!r})
        from ansible_collections.coldaisle.site.plugins.module_utils.bmc_lease import power_of
        with power_of({NODE!r}, "bring-up", "pulumi@deploy"):
            print("held", flush=True)
            time.sleep(60)
    """
    running = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    assert running.stdout
    assert running.stdout.readline() == "held\n"
    return running


def test_b6_a_second_owner_is_refused_with_the_first_ones_name() -> None:
    """B6: while bring-up holds a node, a warm pool may not turn it on, and is told who, why, since and until when."""
    running = run_that_holds()
    try:
        with pytest.raises(HeldError) as caught, power_of(NODE, "warm pool", "autoscaler@cluster"):
            pass
        today = time.strftime("%Y-%m-%d")
        assert f"the power of {NODE} is held by pulumi@deploy (bring-up, process {running.pid})" in str(caught.value)
        assert f"since {today}" in str(caught.value)
        assert holder(NODE) == caught.value.lease
        with power_of("192.0.2.8", "warm pool"):
            pass
    finally:
        running.kill()
        running.wait()


def test_b6_a_killed_owner_holds_nothing() -> None:
    """B6: kill -9 leaves a record and no lock; the next run goes on at once."""
    running = run_that_holds()
    running.kill()
    running.wait()
    assert holder(NODE) is None
    with power_of(NODE, "bring-up"):
        assert holder(NODE)
    assert holder(NODE) is None


def test_b6_maintenance_outlives_its_process_and_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """B6: a node in maintenance is left alone by runs of others until its end, and its owner may work on it."""
    lease = maintain(NODE, "DIMM swap", 3600, "ann@deploy")
    assert maintenance_of(NODE) == lease
    told = r"held by ann@deploy \(DIMM swap\) since .* until .*coldaisle bmc release"
    with pytest.raises(HeldError, match=told), power_of(NODE, "bring-up", "pulumi@deploy"):
        pass
    with power_of(NODE, "power cycle", "ann@deploy"):
        pass
    assert maintenance_of(NODE) == lease
    set_clock(monkeypatch, passed_s=3601)
    assert holder(NODE) is None
    with power_of(NODE, "bring-up", "pulumi@deploy"):
        pass


def set_clock(monkeypatch: pytest.MonkeyPatch, passed_s: float, set_s: float = 0.0) -> None:
    """Let time pass, and set the wall clock by so much beside."""
    at = moment()
    later = Moment(at.wall + passed_s + set_s, at.boot, at.since_boot_s + passed_s)
    monkeypatch.setattr(bmc_lease, "moment", lambda: later)


@pytest.mark.parametrize("set_s", [-86400.0, -3600.0, 3600.0, 86400.0])
def test_b6_a_clock_that_is_set_neither_ends_maintenance_nor_keeps_it(
    monkeypatch: pytest.MonkeyPatch, set_s: float
) -> None:
    """B6: after half an hour of an hour half an hour is left, told by the new clock; after an hour it has ended."""
    lease = maintain(NODE, "DIMM swap", 3600, "ann@deploy")
    set_clock(monkeypatch, passed_s=1800, set_s=set_s)
    left = maintenance_of(NODE)
    assert left is not None
    assert left.until == pytest.approx(lease.until + set_s, abs=1)
    monkeypatch.undo()
    set_clock(monkeypatch, passed_s=3601, set_s=set_s)
    assert maintenance_of(NODE) is None


def test_b6_maintenance_is_given_back_by_its_owner_or_by_force() -> None:
    """B6: nobody else ends it by accident; nothing there is nothing to do."""
    lease = maintain(NODE, "DIMM swap", 3600, "ann@deploy")
    with pytest.raises(HeldError):
        maintain(NODE, "mine now", 60, "bob@deploy")
    with pytest.raises(HeldError):
        release(NODE, "bob@deploy")
    assert maintenance_of(NODE) == lease
    assert release(NODE, "bob@deploy", force=True) == lease
    assert release(NODE, "bob@deploy") is None
    assert holder(NODE) is None


def test_b6_half_a_record_is_nobodys_lease() -> None:
    """B6: what cannot be read holds no node for ever."""
    record_path("lease", NODE).write_text('{"owner": "ann"')
    assert holder(NODE) is None
    record_path("lease", NODE).write_text('{"owner": "ann", "other": 1}')
    assert holder(NODE) is None
    with power_of(NODE, "bring-up"):
        pass
