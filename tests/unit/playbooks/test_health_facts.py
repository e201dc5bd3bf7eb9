"""What hosts and BMCs tell of their health: the kernel's log behind a cursor, AMD's counters, newest log entries."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import bmc_event_log, disk_facts, health_facts
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_sel import sel_unread
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.node import Cluster
from lightkube.resources.core_v1 import Node

from coldaisle.health.parsers.kernel import marks
from coldaisle.health.readings import Cursors, Wanted, read_node
from sim.light.disks import write_disk
from sim.measures import DISK_MB_S

XID = "NVRM: Xid (PCI:0000:58:00): 79, GPU has fallen off the bus."
JOURNALCTL = """#!/bin/sh
echo "$@" > {folder}/asked
echo '-- No entries --'
cat {folder}/entries
"""


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a journal, which is the first on PATH; its entries are lines of a file."""
    (tmp_path / "journalctl").write_text(JOURNALCTL.format(folder=tmp_path))
    (tmp_path / "journalctl").chmod(0o755)
    (tmp_path / "entries").write_text("")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def entry(number: int, message: object) -> str:
    """Return a line of journalctl's JSON."""
    return json.dumps({"__CURSOR": f"c{number}", "__REALTIME_TIMESTAMP": str(number * 10**6), "MESSAGE": message})


def test_lines_that_tell_of_health_are_sent_and_the_cursor_moves_past_all(journal: Path) -> None:
    """What has none of the marks stays on the host; journald writes what is no text as a list of bytes."""
    (journal / "entries").write_text("\n".join([entry(1, XID), entry(2, [78, 255]), entry(3, "usb 1-1: new device")]))
    found = json.loads(str(health_facts.FACTS["kernel_log"].read("c0")))
    assert (found["lines"], found["cursor"], found["cut"]) == ([[1.0, XID]], "c3", False)
    assert "--after-cursor=c0" in (journal / "asked").read_text()


def test_a_first_reading_is_of_a_day_and_silence_keeps_the_cursor(journal: Path) -> None:
    """Without a cursor a day is asked for, and not all that the journal has."""
    found = json.loads(str(health_facts.FACTS["kernel_log"].read("")))
    assert (found["lines"], found["cursor"]) == ([], "")
    assert "--since=-1 day" in (journal / "asked").read_text()


def test_a_flood_is_cut_to_the_newest_lines_and_says_so(journal: Path) -> None:
    """A driver that writes without end neither fills the host's memory nor the deploy host's."""
    (journal / "entries").write_text("\n".join(entry(number, XID) for number in range(health_facts.SENT_LINES + 5)))
    found = json.loads(str(health_facts.FACTS["kernel_log"].read("")))
    assert found["cut"]
    assert (len(found["lines"]), found["lines"][0][0]) == (health_facts.SENT_LINES, 5.0)


def test_hosts_send_every_line_that_is_made_sense_of() -> None:
    """The marks of the hosts and those of the parsers are the same."""
    assert set(health_facts.MARKS) == set(marks())


def test_amds_counters_are_told_by_device_and_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connectors of a card are no devices; a host without counters says so."""
    monkeypatch.setattr(health_facts, "DRM", tmp_path / "drm")
    with pytest.raises(FactError, match="no device"):
        health_facts.FACTS["ras_counts"].read("")
    ras = tmp_path / "pci" / "0000:c3:00.0" / "ras"
    ras.mkdir(parents=True)
    (ras / "umc_err_count").write_text("ue: 2\nce: 0\n")
    for card in ("card1", "card1-DP-1"):
        (tmp_path / "drm" / card).mkdir(parents=True)
        (tmp_path / "drm" / card / "device").symlink_to(ras.parent)
    assert json.loads(str(health_facts.FACTS["ras_counts"].read(""))) == {"0000:c3:00.0": {"umc": {"ue": 2, "ce": 0}}}


class Ipmi:
    """A BMC over IPMI with one event, whose time pyghmi gives in this host's zone."""

    def command(self, *_: object) -> bytes:
        """Return how its log stands."""
        return bytes([0x51, 1, *[0] * 12])

    def events(self) -> list[dict[str, Any]]:
        """Return the event."""
        event = {"severity": 2, "component": "CPU 1", "event": "IERR", "timestamp": "2026-11-28T16:00:00"}
        return [{"record_id": 1, "timecode": 1, **event}]


def test_times_over_ipmi_get_their_zone() -> None:
    """Without it a deploy host that does not keep UTC would be hours off."""
    [found] = sel_unread(Ipmi(), {}).entries  # type: ignore[arg-type]  # all that is used
    told = datetime.fromisoformat(found.at)
    assert told.astimezone(UTC) == datetime(2026, 11, 28, 16).astimezone().astimezone(UTC)
    assert told.tzinfo is not None


def test_a_bmc_without_a_log_says_so() -> None:
    """It is not a BMC with an empty one."""
    with pytest.raises(BmcError, match="no event log"):
        bmc_event_log.event_log({"protocol": "ipmi"}, object(), "")  # type: ignore[arg-type]  # a BMC without events


def test_conditions_are_written_to_the_status_of_a_node() -> None:
    """By a patch of the status alone, so that what the kubelet wrote stays."""
    sent: list[tuple[Any, ...]] = []

    class Client:
        def patch(self, *arguments: object) -> None:
            sent.append(arguments)

    cluster = Cluster.__new__(Cluster)
    cluster._client = Client()  # type: ignore[assignment]  # noqa: SLF001 - there is no cluster to log in to
    condition = {"type": "GpuMemWatch", "status": "True"}
    cluster.set_conditions("r01-n01", [condition])
    assert sent == [(Node.Status, "r01-n01", {"status": {"conditions": [condition]}})]


NVME = """#!/bin/sh
[ "$*" = "smart-log /dev/nvme0 --output-format=json" ] || exit 2
echo '{"critical_warning": 4, "temperature": 310, "avail_spare": 100, "media_errors": 7, "percent_used": 3}'
"""


def test_disks_tell_what_was_counted_and_what_drives_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop has no device of its own; a drive whose log nobody can read still has its counters."""
    monkeypatch.setattr(disk_facts, "BLOCK", tmp_path / "block")
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("nvme0n1", "sda", "loop0"):
        (tmp_path / "block" / name).mkdir(parents=True)
        (tmp_path / "block" / name / "stat").write_text("  10 1 80 200 20 2 160 400 0 500 600 0 0 0 0 0 0\n")
    (tmp_path / "block/nvme0n1/device").mkdir()
    (tmp_path / "block/nvme0n1/device/serial").write_text("S4YZ \n")
    (tmp_path / "block/sda/device").mkdir()
    counted = [30, 240 * 512, 600, 500]
    found = json.loads(str(disk_facts.FACTS["disk_health"].read("")))
    assert found == {
        "nvme0n1": {"serial": "S4YZ", "counted": counted, "smart": {}},
        "sda": {"serial": "", "counted": counted, "smart": {}},
    }
    (tmp_path / "nvme").write_text(NVME)
    (tmp_path / "nvme").chmod(0o755)
    found = json.loads(str(disk_facts.FACTS["disk_health"].read("")))
    assert found["nvme0n1"]["smart"] == {
        "critical_warning": 4,
        "avail_spare": 100,
        "media_errors": 7,
        "percent_used": 3,
    }


def test_a_light_hosts_drive_looks_slow_when_its_fault_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the files that its kernel would have; once the fault is taken back its counters are those of a new start."""
    monkeypatch.setattr(disk_facts, "BLOCK", tmp_path)
    told, before = [], Cursors()
    for rate in (DISK_MB_S, DISK_MB_S / 10, DISK_MB_S):
        write_disk(tmp_path, {"host": "r01-n01", "disk_mb_s": rate})
        facts = {"disk_health": str(disk_facts.FACTS["disk_health"].read(""))}
        read = read_node(Wanted("r01-n01", 0, "", bmc=False), (facts, {}), (0.0, 1.0), before, {})
        told.append([(it.kind, it.code) for it in read.reading.events])
        before = read.cursors
    assert told == [[], [("disk", "slow")], []]
