"""Our reading of a BMC's event log, over both protocols, against the boards of the simulated site."""

from __future__ import annotations

import errno
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
import typer
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import read_bmc
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_unread import NEWEST

from coldaisle.cli import bmc_clear
from coldaisle.files import write_whole
from coldaisle.health.readings import Cursors, Read, Wanted, read_node
from coldaisle.plan.model import BmcPlan
from sim.bmc.event_log import CLOCK, MOST_ENTRIES, EventLog
from sim.fault_records import record_fault
from sim.state import State
from tests.sim.bmc_boards import ipmi_of, make_board, redfish_of
from tests.unit.playbooks.ipmi_bmcs import free_port

USER, PASSWORD = "admin", "secret-of-a-test"  # of a BMC that lives for one test
NODE = Wanted("r01-n01", 0, "", bmc=True)


class Bmc:
    """One BMC, and what health keeps of it from reading to reading."""

    def __init__(self, folder: Path, address: str, protocol: Literal["redfish", "ipmi"]) -> None:
        """Begin with nothing known."""
        self.board = make_board(folder, USER, PASSWORD)
        self.log: EventLog = self.board.log
        self.state = State("test", folder)
        self.protocol: Literal["redfish", "ipmi"] = protocol
        self._params: dict[str, Any] = {"address": address, "protocol": protocol, "credentials": "env:BMC"}
        self._params |= {"ca_file": None, "timeout_s": 5.0}
        self.kept = Cursors()

    def fact(self) -> dict[str, Any]:
        """Return what the BMC tells."""
        name = NODE.facts(self.kept)[-1]
        seen, errors = read_bmc(self._params, [name])
        assert not errors
        found: dict[str, Any] = json.loads(str(seen[name]))
        return found

    @property
    def log_name(self) -> str:
        """What its log is called."""
        return "SEL" if self.protocol == "ipmi" else f"{self.board.uuid}/SEL"

    def clear(self, name: str | None = None) -> dict[str, Path]:
        """Clear as `coldaisle bmc clear-log` does."""
        plan = BmcPlan(
            address=self._params["address"], protocol=self.protocol, credentials="env:BMC",
            mac=None, ca_file=None, boot_order=(), settings={},
        )  # fmt: skip
        return bmc_clear.clear(plan, "lab", "r01-n01", name)

    def reading(self) -> Read:
        """Return the node's reading, and go on from there the next time."""
        before = time.time()
        fact = self.fact()
        kernel = json.dumps({"lines": [], "cursor": "", "now": before})
        facts = {"kernel_log": kernel, "event_log": json.dumps(fact)}
        read = read_node(NODE, (facts, {}), (before, time.time()), self.kept, {})
        self.kept = read.cursors
        return read

    def told(self) -> list[tuple[str, str]]:
        """Return part and code of what is new."""
        return [(it.part, it.code) for it in self.reading().reading.events]


@pytest.fixture(params=["redfish", "ipmi"])
def bmc(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bmc]:
    """Return a BMC with an empty log."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("BMC_USERNAME", USER)
    monkeypatch.setenv("BMC_PASSWORD", PASSWORD)
    folder = tmp_path / "bmc"
    if request.param == "redfish":
        with redfish_of(make_board(folder, USER, PASSWORD), folder) as address:
            yield Bmc(folder, address, "redfish")
    else:
        with ipmi_of(folder, USER, PASSWORD, free_port()) as address:
            yield Bmc(folder, address, "ipmi")


def test_an_entry_is_told_once_with_its_part(bmc: Bmc) -> None:
    """Two in one second are two, also where a reading comes between them; what ended is no event."""
    assert bmc.told() == []
    bmc.log.add("memory")
    assert bmc.told() == [("dimm B2", "memory-critical")]
    assert bmc.told() == []
    bmc.log.add("memory")
    bmc.log.add("pcie")
    assert bmc.told() == [("dimm B2", "memory-critical"), ("slot 5", "pcie-critical")]
    bmc.log.add("memory", begins=False)
    assert bmc.told() == []


@pytest.mark.parametrize(
    ("sensor", "part", "code"),
    [
        ("processor", "cpu 1", "processor-critical"),
        ("power-supply", "psu 1", "power-critical"),
        ("temperature", "thermal", "thermal-warning"),
    ],
)
def test_the_sensors_type_says_what_it_is_of(bmc: Bmc, sensor: str, part: str, code: str) -> None:
    """Both protocols tell the same of the same."""
    bmc.log.add(sensor)
    assert bmc.told() == [(part, code)]


def test_a_log_that_was_cleared_is_told_from_its_beginning(bmc: Bmc) -> None:
    """Its numbers begin anew: fewer entries than before, or more, none is taken for an old one."""
    bmc.log.add("memory", count=3)
    assert len(bmc.told()) == 3
    for count in (2, 5):
        bmc.log.clear()
        time.sleep(1.1)  # the protocols tell whole seconds, and nobody clears a log twice in one
        bmc.log.add("pcie", count=count)
        assert bmc.told() == [("slot 5", "pcie-critical")] * count


def test_a_clock_that_jumps_back_hides_nothing_and_is_corrected(bmc: Bmc) -> None:
    """A BMC whose battery is empty begins in 1970: what it logs then is told with the time that it was."""
    bmc.log.add("memory")
    assert len(bmc.told()) == 1
    record_fault(bmc.state, "r01-n01", CLOCK, {"ahead_s": -1_000_000_000})
    bmc.log.add("processor")
    found = {it.kind: it for it in bmc.reading().reading.events}
    assert abs(found["sel"].seen_at - time.time()) < 5
    if bmc.protocol == "redfish":  # over IPMI the library corrects times, and which zone a BMC keeps nobody knows
        assert (found["bmc"].part, found["bmc"].code) == ("clock", "clock-behind")
        assert re.match(r"100000000\d s behind of this machine's", found["bmc"].text)


def test_a_full_log_says_so_until_it_is_cleared(bmc: Bmc) -> None:
    """What does not fit in is lost on the BMC, and no later event would be seen."""
    bmc.log.add("temperature", count=MOST_ENTRIES + 1)
    found = bmc.reading().reading.events
    assert len(found) == NEWEST + 1
    assert [(it.kind, it.code, it.state) for it in found if it.kind == "bmc"] == [("bmc", "log-full", True)]
    assert bmc.told()[0][1] == "log-full"
    bmc.log.clear()
    assert bmc.told() == []


def test_clearing_keeps_what_was_in_it_and_sees_it_gone(bmc: Bmc) -> None:
    """One that is full is cleared unasked, another by its name; the file has all entries."""
    bmc.log.add("memory")
    bmc.log.add("pcie", begins=False)
    assert bmc.clear() == {}
    [(name, file)] = bmc.clear(bmc.log_name).items()
    assert name == bmc.log_name
    kept = json.loads(file.read_text())["entries"]
    assert [it["severity"] for it in kept] == ["critical", "ok"]
    assert bmc.log.entries() == []
    bmc.log.add("temperature", count=MOST_ENTRIES + 1)
    assert list(bmc.clear()) == [bmc.log_name]
    assert not bmc.log.overflowed
    assert bmc.told() == []


def test_a_log_that_there_is_not_is_told_with_those_that_there_are(
    bmc: Bmc, capsys: pytest.CaptureFixture[str]
) -> None:
    """And nothing is cleared."""
    bmc.log.add("memory")
    with pytest.raises(typer.Exit):
        bmc.clear("Journal")
    assert f"the BMC has no log Journal; it has {bmc.log_name}" in capsys.readouterr().err
    assert len(bmc.log.entries()) == 1


def test_a_log_that_cannot_be_kept_is_not_cleared(
    bmc: Bmc, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk costs no evidence."""
    bmc.log.add("memory")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(bmc_clear, "write_whole", full)
    with pytest.raises(typer.Exit):
        bmc.clear(bmc.log_name)
    assert "have:  No space left on device" in capsys.readouterr().err
    assert len(bmc.log.entries()) == 1


def test_what_is_logged_while_it_is_read_is_kept_too(bmc: Bmc, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over IPMI, where a reservation tells: it is read again, and one that logs without end is left as it is."""
    if bmc.protocol != "ipmi":
        pytest.skip("Redfish has no reservation")
    plain, more = write_whole, ["pcie"]

    def busy(path: Path, text: str, *, sync: bool) -> None:
        plain(path, text, sync=sync)
        if more:
            bmc.log.add(more.pop())

    monkeypatch.setattr(bmc_clear, "write_whole", busy)
    bmc.log.add("memory")
    [file] = bmc.clear("SEL").values()
    assert len(json.loads(file.read_text())["entries"]) == 2
    more += ["pcie"] * 9
    with pytest.raises(typer.Exit):
        bmc.clear("SEL")
    assert len(bmc.log.entries()) == 3


def test_a_log_without_news_is_one_command_over_ipmi(bmc: Bmc, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries and sensors are not asked for, of which there are thousands."""
    if bmc.protocol != "ipmi":
        pytest.skip("over Redfish a page is read")
    bmc.log.add("memory", count=5)
    assert len(bmc.told()) == 5
    asked: list[int] = []
    plain = IpmiBmc.events

    def events(ipmi: IpmiBmc, first: int = 0) -> Iterator[Any]:
        asked.append(first)
        return plain(ipmi, first)

    monkeypatch.setattr(IpmiBmc, "events", events)
    assert bmc.told() == []
    bmc.log.add("memory")
    assert len(bmc.told()) == 1
    assert asked == [5]
