"""From the facts that a node's host and BMC told to what they mean: events, parts, and what could not be told."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from coldaisle.health.events import Event, pci_address
from coldaisle.health.parsers import (
    Counted,
    NotAReportError,
    bmc_events,
    counted_of,
    disk_events,
    kernel_events,
    seconds,
    smi_report,
)
from coldaisle.health.tick import Reading

KERNEL_LOG, GPU_REPORT, RAS_COUNTS, EVENT_LOG = "kernel_log", "gpu_report", "ras_counts", "event_log"
DISK_HEALTH = "disk_health"
OF_HOST = frozenset({KERNEL_LOG, GPU_REPORT, RAS_COUNTS, DISK_HEALTH})
"""Facts of the host itself: without one of them a node's reading is not complete."""

UNNAMED_GPU = "gpu not seen before"


@dataclass(frozen=True, slots=True)
class Cursors:
    """
    Where the next reading of a node begins.

    Journald's cursor, the BMC reader's own, and what its disks had counted.
    """

    kernel: str = ""
    bmc: str = ""
    disks: Counted = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a node is asked for: its GPUs by the plan, whose they are, and whether its BMC is asked too."""

    node: str
    gpus: int
    vendor: str
    bmc: bool

    def facts(self, cursors: Cursors) -> list[str]:
        """Return the names of the facts."""
        kinds = {"NVIDIA": [GPU_REPORT], "AMD": [RAS_COUNTS]}.get(self.vendor.upper(), []) if self.gpus else []
        log = [f"{EVENT_LOG}.{cursors.bmc}" if cursors.bmc else EVENT_LOG] if self.bmc else []
        return [f"{KERNEL_LOG}.{cursors.kernel}" if cursors.kernel else KERNEL_LOG, *kinds, DISK_HEALTH, *log]


@dataclass(frozen=True, slots=True)
class Read:
    """A node's reading, where its next one begins, and what could not be told."""

    reading: Reading
    cursors: Cursors
    notes: tuple[str, ...] = ()


def read_node(
    wanted: Wanted,
    found: tuple[Mapping[str, str], Mapping[str, str]],
    asked: tuple[float, float],
    before: Cursors,
    known: Mapping[str, Mapping[str, str]],
) -> Read:
    """
    Return what a node told.

    Args:
        wanted: What it was asked for.
        found: Facts that it told, and for each other one why not, by their full names.
        asked: When asking began, and when all had answered, in seconds since 1970.
        before: Where this reading began.
        known: Its parts, as they were seen before.
    """
    at = asked[0]
    facts = {name.partition(".")[0]: value for name, value in found[0].items()}
    notes = [f"{name.partition('.')[0]}: {why}" for name, why in found[1].items()]
    log, shift_s = _kernel_log(facts, asked)
    events = kernel_events(wanted.node, log)
    parts: Mapping[str, Mapping[str, str]] = {}
    try:
        if GPU_REPORT in facts:
            report = smi_report(wanted.node, facts[GPU_REPORT], at)
            parts = report.parts
            events += [*report.events, *_lost(wanted, parts, known, at)]
    except NotAReportError as error:
        notes.append(f"{GPU_REPORT}: {error}")
    disks = facts.get(DISK_HEALTH, "{}")
    events += disk_events(wanted.node, disks, before.disks, at)
    events += _ras(wanted.node, facts.get(RAS_COUNTS, "{}"), at)
    logged = json.loads(facts.get(EVENT_LOG, "{}"))
    events += _bmc(wanted.node, logged, asked, first=not before.bmc)
    events += _clock_off(wanted.node, shift_s, at)
    complete = not any(note.partition(":")[0] in OF_HOST for note in notes)
    bmc_cursor = logged.get("cursor", before.bmc)
    after = Cursors(_cursor(facts, before), bmc_cursor, counted_of(disks) or before.disks)
    return Read(Reading(wanted.node, at, tuple(sorted(events)), complete, parts), after, tuple(notes))


CLOCK_IS_OFF_S = 5.0
"""A host's clock is wrong when it shows a time so far before the question, or behind the last answer."""


def _kernel_log(facts: Mapping[str, str], asked: tuple[float, float]) -> tuple[list[tuple[float, str]], float]:
    """Return the lines with the times of our clock, and what was added to those of the host's."""
    if KERNEL_LOG not in facts:
        return [], 0.0
    body = json.loads(facts[KERNEL_LOG])
    shift_s = _shift_s(float(body["now"]), asked)
    return [(float(stamp) + shift_s, str(text)) for stamp, text in body["lines"]], shift_s


def _shift_s(now: float, asked: tuple[float, float]) -> float:
    """Return what is to be added to the times of a clock that showed `now` when it was asked; 0 where it is right."""
    off_s = min(max(now, asked[0]), asked[1]) - now
    return off_s if abs(off_s) > CLOCK_IS_OFF_S else 0.0


def _clock_off(node: str, shift_s: float, at: float) -> Iterator[Event]:
    """Yield that a host's clock is wrong, and to which side."""
    if shift_s:
        yield Event(node, "clock", "clock", _side(shift_s), 1, at, _off(shift_s), state=True)


def _side(shift_s: float) -> str:
    return "behind" if shift_s > 0 else "ahead"


def _off(shift_s: float) -> str:
    said = f"{abs(shift_s):.0f} s {_side(shift_s)} of this machine's"
    return f"{said}; the times of its lines are corrected by that"


def _bmc(node: str, logged: Mapping[str, Any], asked: tuple[float, float], *, first: bool) -> list[Event]:
    """Return what a BMC has logged, and what is wrong with its clock and its logs; all but a first reading is news."""
    now = seconds(logged.get("now", ""))
    shift_s = 0.0 if now is None else _shift_s(now, asked)
    found = bmc_events(node, logged.get("entries", []), shift_s, None if first else asked[0])
    if shift_s:
        found.append(Event(node, "clock", "bmc", f"clock-{_side(shift_s)}", 1, asked[0], _off(shift_s), state=True))
    for log in logged.get("full", []):
        said = f"the log {log} is full, or has dropped entries: coldaisle bmc clear-log keeps and clears it"
        found.append(Event(node, f"log {log}", "bmc", "log-full", 1, asked[0], said, state=True))
    return found


def _cursor(facts: Mapping[str, str], before: Cursors) -> str:
    return str(json.loads(facts[KERNEL_LOG])["cursor"]) if KERNEL_LOG in facts else before.kernel


def _lost(wanted: Wanted, seen: Mapping[str, object], known: Mapping[str, object], at: float) -> Iterator[Event]:
    """Yield planned GPUs that are not there, by the slots that were seen before; the rest have no name."""
    lost = wanted.gpus - len(seen)
    names = sorted(set(known) - set(seen))[: max(lost, 0)]
    said = f"{len(seen)} of {wanted.gpus} planned GPUs are there"
    for part in names:
        yield Event(wanted.node, part, "gpu-lost", "missing", 1, at, said, state=True)
    if lost > len(names):
        yield Event(wanted.node, UNNAMED_GPU, "gpu-lost", "missing", lost - len(names), at, said, state=True)


def _ras(node: str, text: str, at: float) -> Iterator[Event]:
    """Yield AMD's counters that are not 0: `ue` are uncorrected errors, `ce` corrected ones."""
    for address, blocks in json.loads(text).items():
        for counter, code in (("ue", "uncorrected"), ("ce", "corrected")):
            told = {block: counts.get(counter, 0) for block, counts in blocks.items()}
            if total := sum(told.values()):
                said = ", ".join(f"{block} {count}" for block, count in sorted(told.items()) if count)
                yield Event(node, f"gpu {pci_address(address)}", "ras", code, total, at, said, state=True)
