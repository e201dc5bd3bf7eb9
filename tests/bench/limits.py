"""
Limits of regression: for each figure the mean of at least five runs and a fifth more, in limits.yaml beside this file.

CPU seconds and memory have limits, since they hold on a machine that does other work, too; seconds of the clock and the
figures of a peer have none. A figure is over its limit when the least of three runs is. What was not measured five
times is not in the file.
"""

from __future__ import annotations

import os
import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml


class _Indented(yaml.SafeDumper):
    """Writes lists below their key as yamllint wants them."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002 - PyYAML's
        """Indent a list in a mapping too."""
        del indentless
        super().increase_indent(flow, False)


FILE = Path(__file__).with_name("limits.yaml")
RUNS = 5
"""Runs that a mean is of, at least."""

HEADROOM = 1.2
"""A limit is so many times the mean: a fifth more, as Kueue's performance tests have it."""

TRIES = 3
OVER_LIMIT = 6
"""Exit code of a check that found a figure over its limit."""

HAS_A_LIMIT = re.compile(r"_(cpu_s|mib)$")
OF_OTHERS = re.compile(r"_(pyavd|playbook|sushy|ipmitool|check|reckoned)_")

HEAD = """\
# Limits of regression. `make bench LIMITS=1` measures these figures five times and writes this file (BENCH=name: that
# one only, which is added where it is not here); `make bench CHECK=1` holds a run to it. limit: mean and a fifth more.
"""

Figures = Mapping[str, float]
Measure = Callable[[str], Figures]
"""Measures the figures of one name of the registry, in a process of its own."""


@dataclass(frozen=True, slots=True)
class Limit:
    """
    What a figure may be at most.

    Args:
        limit: In the figure's own unit, as are `mean` and `runs`.
        mean: Mean of the runs.
        runs: What each run measured.
        date: Day of the runs (ISO 8601).
        machine: Processor, cores, kernel and load of other work; CPU seconds of another machine are others.

    """

    limit: float
    mean: float
    runs: tuple[float, ...]
    date: str
    machine: str


Limits = dict[str, dict[str, Limit]]
"""By name of the registry, the limits of its figures."""


def limit_of(runs: Sequence[float], on: date, where: str) -> Limit:
    """Return the limit that follows from runs; ValueError where there are fewer than five."""
    if len(runs) < RUNS:
        raise ValueError(f"a limit is the mean of at least {RUNS} runs, not of {len(runs)}")
    mean = statistics.fmean(runs)
    rounded = tuple(round(run, 3) for run in runs)
    return Limit(round(HEADROOM * mean, 3), round(mean, 3), rounded, on.isoformat(), where)


def limits_of(runs: Sequence[Figures], on: date, where: str) -> dict[str, Limit]:
    """Return the limits of the figures of one name that have one."""
    names = [name for name in runs[0] if HAS_A_LIMIT.search(name) and not OF_OTHERS.search(name)]
    return {name: limit_of([run[name] for run in runs], on, where) for name in names}


def over(limits: Mapping[str, Limit], measured: Figures) -> dict[str, str]:
    """Return by figure, in a sentence, what is over its limit, and what has a limit and was not measured."""
    told = {}
    for name, wanted in limits.items():
        value = measured.get(name)
        if value is None:
            told[name] = f"{name}: has a limit of {wanted.limit:g}, and was not measured"
        elif value > wanted.limit:
            part = 100 * (value / wanted.mean - 1)
            told[name] = (
                f"{name}: limit {wanted.limit:g}, measured {value:.3f}: {part:.0f} % above the mean"
                f" of {len(wanted.runs)} runs ({wanted.mean:g}; {wanted.date}, {wanted.machine})"
            )
    return told


def checked(limits: Mapping[str, Limit], measure: Callable[[], Figures]) -> dict[str, str]:
    """Measure until nothing is over its limit, three times at most, and return what still is: judged by the least."""
    least: dict[str, float] = {}
    for _ in range(TRIES):
        measured = measure()
        least |= {name: min(value, least.get(name, value)) for name, value in measured.items()}
        if not (told := over(limits, least)):
            return {}
    return told


def check(limits: Limits, names: Iterable[str], measure: Measure) -> list[str]:
    """Return a line for each figure of these names that is over its limit."""
    found: list[str] = []
    for name in names:
        found += checked(limits[name], lambda name=name: measure(name)).values()  # type: ignore[misc]
    return found


def renewed(limits: Limits, names: Iterable[str], measure: Measure, on: date, where: str) -> Limits:
    """Return the limits with those of some names measured anew."""
    return limits | {name: limits_of([measure(name) for _ in range(RUNS)], on, where) for name in names}


def load(file: Path | None = None) -> Limits:
    """Return the limits of a file (limits.yaml); none where there is no file."""
    file = file or FILE
    if not file.exists():
        return {}
    kept: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    return {
        name: {figure: Limit(**{**each, "runs": tuple(each["runs"])}) for figure, each in figures.items()}
        for name, figures in kept.items()
    }


def text_of(limits: Limits) -> str:
    """Return the text of a file of limits."""
    plain = {
        name: {figure: {**asdict(each), "runs": list(each.runs)} for figure, each in figures.items()}
        for name, figures in sorted(limits.items())
    }
    return HEAD + yaml.dump(plain, Dumper=_Indented, sort_keys=False, width=120)


def machine() -> str:
    """Return what this machine is and what else it does, in a line: processor, cores, kernel, load average."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    kernel = ".".join(os.uname().release.split(".")[:2])
    model = next(models, "processor unknown")
    return f"{model}, {os.cpu_count()} cores, Linux {kernel}, load average {os.getloadavg()[0]:.1f}"
