"""Logging in to BMCs: cipher suites, privileges, and how many connections a BMC holds."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_habits import Identity
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_quirks import habits_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_slots import CONNECTIONS, connection
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import (
    change_record,
    read_record,
    record_path,
    write_record,
)

Serve = Callable[..., str]
COLLECTIONS = Path(__file__).parents[3] / "playbooks/collections"


def login(address: str, password: str = "correct-horse", vendor: str = "any") -> IpmiBmc:  # noqa: S107  # a fake's
    """Log in as the fake's user."""
    return IpmiBmc(Access(address, "admin", password), vendor)


@pytest.mark.parametrize("habit", ["taken", "refused", "silent"])
def test_b1_next_suite_is_tried_and_the_one_that_works_remembered(
    serve_ipmi: Serve,
    tmp_path: Path,
    habit: str,
) -> None:
    """B1: a BMC that refuses suite 17, is silent in it, or answers in another is let in by 3, at once the next time."""
    notes = tmp_path / "notes"
    address = serve_ipmi(suite_17=habit, notes=str(notes))
    login(address).close()
    assert read_record(record_path("ipmi", address)) == {"suite": 3, "privilege": "administrator"}
    before = notes.read_text().split("\n").count("suite 17")
    assert before >= 1
    bmc = login(address)
    assert bmc.power() == "off"
    bmc.close()
    assert notes.read_text().split("\n").count("suite 17") == before


def test_b1_a_wrong_password_is_tried_once(serve_ipmi: Serve, tmp_path: Path) -> None:
    """B1: no suite makes a wrong password right, and more logins lock the account."""
    notes = tmp_path / "notes"
    address = serve_ipmi(suite_17="refused", notes=str(notes))
    with pytest.raises(BmcError, match="wrong-credentials"):
        login(address, "battery-staple")
    assert notes.read_text() == "suite 17\nsuite 3\n"


def test_a_bmc_that_is_silent_for_some_seconds_is_asked_again(serve_ipmi: Serve) -> None:
    """It answers nothing while it is busy; one that stays silent is given up after half of the access's time."""
    assert login(serve_ipmi(asleep_s=4)).power() == "off"
    with pytest.raises(BmcError, match="no-answer: suite 17 as administrator: timeout"):
        IpmiBmc(Access(serve_ipmi(asleep_s=60), "admin", "correct-horse", timeout_s=1.0))


def test_b1_what_is_remembered_is_not_lost(state_home: Path) -> None:
    """B1: processes that remember at the same time lose nothing of each other, and half a file is no record."""
    program = f"""
        import sys
        sys.path.insert(0, {str(COLLECTIONS)!r})
        from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import change_record, record_path
        for number in range(20):
            change_record(record_path("ipmi", "192.0.2.7"), **{{f"{{sys.argv[1]}}.{{number}}": number}})
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    running = [subprocess.Popen([*command, name]) for name in ("a", "b")]
    assert [process.wait() for process in running] == [0, 0]
    place = record_path("ipmi", "192.0.2.7")
    assert len(read_record(place)) == 40
    assert place.is_relative_to(state_home)
    place.write_text('{"suite": ')
    assert read_record(place) == {}
    assert change_record(place, suite=3) == read_record(place) == {"suite": 3}


def test_b2_privilege_is_lowered_where_the_bmc_wants_less(serve_ipmi: Serve) -> None:
    """B2: a BMC whose user may not be administrator is logged in to as operator, which is remembered too."""
    address = serve_ipmi(max_privilege=3)
    bmc = login(address)
    assert bmc.power() == "off"
    bmc.close()
    assert read_record(record_path("ipmi", address)) == {"suite": 3, "privilege": "operator"}


def test_b2_vendor_chooses_the_order_and_errors_tell_the_tool(serve_ipmi: Serve, tmp_path: Path) -> None:
    """B2: Cisco's BMCs are asked for suite 3 first; what fails has every try and the version of the tool in it."""
    notes = tmp_path / "notes"
    login(serve_ipmi(notes=str(notes)), vendor="Cisco").close()
    assert notes.read_text() == "suite 3\n"
    assert habits_of(Identity("cisco")).ipmi_suites == (3, 17)
    with pytest.raises(BmcError, match=r"no-privilege: .*suite 3 as administrator.*as operator.*\(pyghmi \d+\.\d+"):
        login(serve_ipmi(max_privilege=2), vendor="cisco")


def test_b4_connections_of_a_bmc_are_bounded_across_processes(state_home: Path) -> None:
    """B4: as many processes as the limit hold a BMC; one more says who. A killed one holds nothing."""
    del state_home
    program = f"""
        import sys, time
        sys.path.insert(0, {str(COLLECTIONS)!r})
        from ansible_collections.coldaisle.site.plugins.module_utils.bmc_slots import connection
        with connection("192.0.2.7"):
            print("held", flush=True)
            time.sleep(60)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(CONNECTIONS)]
    for process in running:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
    with (
        pytest.raises(BmcError, match=f"connections: .*{running[0].pid}.*hold all {CONNECTIONS}"),
        connection("192.0.2.7", timeout_s=0.2),
    ):
        pass
    with connection("192.0.2.8", timeout_s=0.2):
        pass  # another BMC is free
    running[0].kill()
    running[0].wait()
    with connection("192.0.2.7", timeout_s=1):
        pass
    running[1].kill()
    running[1].wait()


def test_b4_only_one_changes_things(state_home: Path) -> None:
    """B4: of the connections that a BMC holds, one changes things; who reads beside it is let in."""
    del state_home
    with connection("192.0.2.7", changes=True):
        with pytest.raises(BmcError, match="connections"), connection("192.0.2.7", changes=True, timeout_s=0.1):
            pass
        with connection("192.0.2.7", timeout_s=0.1):
            pass


def test_record_of_a_killed_writer_stays_whole(state_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that dies before its file is in place leaves the old record."""
    del state_home
    place = record_path("ipmi", "192.0.2.7")
    write_record(place, {"suite": 3})
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("killed")))
    with pytest.raises(OSError, match="killed"):
        write_record(place, {"suite": 17})
    assert read_record(place) == {"suite": 3}
    assert time.time() - place.stat().st_mtime < 60
