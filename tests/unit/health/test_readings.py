"""What a host and a BMC told, as a reading: what is missing, whose clock is wrong, where the next one begins."""

from __future__ import annotations

import json

from coldaisle.health.readings import UNNAMED_GPU, Cursors, Wanted, read_node
from tests.unit.health.sites import T0

NVIDIA = Wanted("r01-n01", 2, "NVIDIA", bmc=True)
ASKED = (T0, T0 + 60)
NOTHING = Cursors()
SEEN = {f"gpu 0000:{slot}:00.0": {"serial": slot} for slot in ("40", "48")}


def kernel_log(*lines: tuple[float, str], now: float = T0) -> str:
    """Return the fact of a host's kernel log."""
    return json.dumps({"lines": lines, "cursor": "s=1;i=2", "now": now, "cut": False})


def logged(*entries: dict[str, str], now: str = "") -> str:
    """Return the fact of a BMC's event log."""
    return json.dumps({"now": now, "entries": entries, "cursor": "next", "full": []})


def report(*slots: str) -> str:
    """Return a report of healthy GPUs in these slots."""
    gpus = "".join(f'<gpu id="00000000:{slot}:00.0"><serial>{slot}</serial></gpu>' for slot in slots)
    return f"<nvidia_smi_log>{gpus}</nvidia_smi_log>"


def test_a_lost_gpu_is_named_by_the_slot_that_was_seen_before() -> None:
    """One of two planned GPUs is gone, and it is known which; of a node never seen whole it is not."""
    facts = {"kernel_log": kernel_log(), "gpu_report": report("40"), "event_log": logged()}
    read = read_node(NVIDIA, (facts, {}), ASKED, Cursors(), SEEN)
    assert [(it.part, it.kind, it.count) for it in read.reading.events] == [("gpu 0000:48:00.0", "gpu-lost", 1)]
    strange = read_node(NVIDIA, (facts, {}), ASKED, Cursors(), {})
    assert [(it.part, it.count) for it in strange.reading.events] == [(UNNAMED_GPU, 1)]
    assert read.reading.complete


def test_what_a_host_does_not_tell_makes_its_reading_incomplete() -> None:
    """A driver that does not answer is no node without errors; a silent BMC leaves the host's reading whole."""
    errors = {"gpu_report": "nvidia-smi ended with 9", "event_log.2026": "the BMC did not answer"}
    read = read_node(NVIDIA, ({"kernel_log": kernel_log()}, errors), ASKED, Cursors("c", "2026"), SEEN)
    assert not read.reading.complete
    assert read.notes == ("gpu_report: nvidia-smi ended with 9", "event_log: the BMC did not answer")
    assert read.cursors == Cursors("s=1;i=2", "2026")
    facts = {"kernel_log": kernel_log(), "gpu_report": report("40", "48")}
    assert read_node(NVIDIA, (facts, {"event_log": "silent"}), ASKED, Cursors(), SEEN).reading.complete


def test_a_clock_that_is_off_is_corrected_and_told() -> None:
    """A host an hour behind tells of an Xid of a minute ago: that is when it was."""
    xid = "NVRM: Xid (PCI:0000:40:00): 79, GPU has fallen off the bus."
    facts = {"kernel_log": kernel_log((T0 - 3660, xid), now=T0 - 3600), "gpu_report": report("40", "48")}
    read = read_node(NVIDIA, (facts, {}), ASKED, Cursors(), SEEN)
    assert [(it.kind, it.code, it.seen_at) for it in read.reading.events] == [
        ("clock", "behind", T0),
        ("xid", "79", T0 - 60),
    ]
    assert read.reading.events[0].text.startswith("3600 s behind of this machine's")
    assert read.notes == ()


def test_a_host_that_takes_its_time_has_no_wrong_clock() -> None:
    """Its clock shows a time between the question and the last answer of all hosts."""
    line = (T0 + 40, "NVRM: Xid (PCI:0000:40:00): 13, pid=1")
    facts = {"kernel_log": kernel_log(line, now=T0 + 50), "gpu_report": report("40", "48")}
    read = read_node(NVIDIA, (facts, {}), ASKED, Cursors(), SEEN)
    assert (read.notes, [it.seen_at for it in read.reading.events]) == ((), [T0 + 40])


def test_amds_counters_are_events_of_their_gpu() -> None:
    """Blocks add up; what is 0 is nothing."""
    counts = {
        "0000:c3:00.0": {"umc": {"ue": 2, "ce": 0}, "gfx": {"ue": 1, "ce": 0}},
        "0000:83:00.0": {"umc": {"ue": 0}},
    }
    facts = {"kernel_log": kernel_log(), "ras_counts": json.dumps(counts)}
    read = read_node(Wanted("r01-n01", 2, "AMD", bmc=False), (facts, {}), ASKED, Cursors(), {})
    assert [(it.part, it.code, it.count, it.text) for it in read.reading.events] == [
        ("gpu 0000:c3:00.0", "uncorrected", 3, "gfx 1, umc 2")
    ]


def test_the_next_reading_asks_for_what_is_new() -> None:
    """Facts carry the cursors; a node without GPUs is not asked for any."""
    assert NVIDIA.facts(Cursors()) == ["kernel_log", "gpu_report", "disk_health", "event_log"]
    assert NVIDIA.facts(Cursors("s=1", "2026")) == ["kernel_log.s=1", "gpu_report", "disk_health", "event_log.2026"]
    assert Wanted("r01-n01", 0, "", bmc=False).facts(Cursors()) == ["kernel_log", "disk_health"]


def test_the_bmcs_cursor_is_its_readers_own() -> None:
    """Entries that are no events move it too; a BMC that says nothing leaves it where it was."""
    entries = [
        {"at": "2026-11-28T16:00:00+00:00", "severity": "critical", "text": "CPU 1: IERR", "source": "SEL"},
        {"at": "2026-11-28T16:05:00+00:00", "severity": "ok", "text": "power on", "source": "SEL"},
    ]
    facts = {"kernel_log": kernel_log(), "gpu_report": report("40", "48"), "event_log": logged(*entries)}
    read = read_node(NVIDIA, (facts, {}), ASKED, Cursors(), SEEN)
    assert read.cursors.bmc == "next"
    assert [it.code for it in read.reading.events] == ["processor-critical"]
    silent = {name: fact for name, fact in facts.items() if name != "event_log"}
    assert read_node(NVIDIA, (silent, {}), ASKED, read.cursors, SEEN).cursors.bmc == "next"


def test_news_of_a_bmc_whose_clock_was_not_set_yet_are_of_now() -> None:
    """It began in 1970, logged, and was set right before anybody asked; of a first reading nobody knows when it was."""
    entries = [
        {"at": "1970-01-01T00:03:00+00:00", "severity": "critical", "text": "CPU 1: IERR", "source": "SEL"},
        {"at": "", "severity": "critical", "text": "DIMM A1: uncorrectable ECC", "source": "SEL"},
    ]
    facts = {"kernel_log": kernel_log(), "gpu_report": report("40", "48"), "event_log": logged(*entries)}
    read = read_node(NVIDIA, (facts, {}), ASKED, Cursors(bmc="{}"), SEEN)
    assert {(it.code, it.seen_at) for it in read.reading.events} == {
        ("processor-critical", T0),
        ("memory-critical", T0),
    }
    assert read_node(NVIDIA, (facts, {}), ASKED, Cursors(), SEEN).reading.events == ()


def disk(*counted: int, **smart: int) -> str:
    """Return the fact of a host with one NVMe drive."""
    return json.dumps({"nvme0n1": {"serial": "S1", "counted": counted, "smart": smart}})


def disks(text: str, before: Cursors = NOTHING) -> list[tuple[str, str]]:
    """Return part and code of what a host tells of its disks."""
    read = read_node(NVIDIA, ({"kernel_log": kernel_log(), "disk_health": text}, {}), ASKED, before, {})
    return [(it.part, it.code) for it in read.reading.events if it.kind == "disk"]


def test_a_disk_is_slow_by_what_it_did_since_the_reading_before() -> None:
    """A day of quick reads before does not hide it, nor does a day of slow ones show it; a full queue is not slow."""
    quick, slow, full = (9000, 2**35, 9000, 9000), (9100, 2**35 + 2**20, 59000, 59000), (9100, 2**36, 59000, 9900)
    assert disks(disk(*slow)) == []
    assert disks(disk(*slow), Cursors(disks={"nvme0n1": quick})) == [("disk nvme0n1 S1", "slow")]
    assert disks(disk(*full), Cursors(disks={"nvme0n1": quick})) == []
    assert disks(disk(100, 2**20, 50000, 50000), Cursors(disks={"nvme0n1": quick})) == [("disk nvme0n1 S1", "slow")]
    assert disks(disk(9009, 2**35, 59000, 59000), Cursors(disks={"nvme0n1": quick})) == []


def test_a_drives_own_log_is_told() -> None:
    """By the bits of its critical warning; media errors and wear by their numbers; one in order tells nothing."""
    fine = {"critical_warning": 0, "media_errors": 0, "percent_used": 99}
    assert disks(disk(1, 1, 1, 1, **fine)) == []
    told = disks(disk(1, 1, 1, 1, critical_warning=0b1001, media_errors=3, percent_used=100))
    assert [code for _part, code in told] == ["media-errors", "read-only", "spare-low", "worn"]


def test_what_disks_had_counted_is_where_the_next_reading_begins() -> None:
    """A host that does not tell this time goes on from the time before."""
    read = read_node(NVIDIA, ({"disk_health": disk(1, 2, 3, 4)}, {}), ASKED, Cursors(), {})
    assert read.cursors.disks == {"nvme0n1": [1, 2, 3, 4]}
    silent = read_node(NVIDIA, ({}, {"disk_health": "no answer"}), ASKED, read.cursors, {})
    assert silent.cursors.disks == {"nvme0n1": [1, 2, 3, 4]}
    assert not silent.reading.complete
