"""What several tests of cables ask of a report, and whom of the small site they ask."""

from __future__ import annotations

from coldaisle.plan.model import End
from coldaisle.verify import Answer, CablingReport, compare
from tests.unit.verify.neighbours import answers, ethernet

SWITCHES = ("leaf01", "leaf02", "spine01", "spine02", "oob01")


def kinds(report: CablingReport) -> list[str]:
    """Return the kinds of what was found."""
    return [finding.kind for finding in report.findings]


def named(ends: tuple[End, ...]) -> set[str]:
    """Return ends as `device:port`."""
    return {f"{one.device}:{one.port}" for one in ends}


def devices() -> tuple[str, ...]:
    """Return the devices of the small site, switches first."""
    return tuple(sorted(ethernet().devices, key=lambda name: not ethernet().devices[name].is_switch))


def told(links: dict[End, End], *extra: Answer) -> CablingReport:
    """Compare the small site's plan with links that all of its devices tell of."""
    return compare(ethernet(), [*answers(links, devices()), *extra])
