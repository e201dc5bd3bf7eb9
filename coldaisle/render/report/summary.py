"""What the report says first: how much of everything there is, how full it is, and whether it may be built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coldaisle.check import Finding
from coldaisle.plan.model import FeedPlan, RackPlan, SitePlan
from coldaisle.units import counted, grouped, kilowatts, percent


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure of the summary, and what it is made of."""

    name: str
    figure: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the site may be built, as a word, a mark and a sentence."""

    state: str
    mark: str
    words: str


def verdict(findings: Sequence[Finding]) -> Verdict:
    """Return what the checks come to."""
    counts = Counter(finding.severity for finding in findings)
    warnings = counted(counts["warning"], "warning")
    if counts["error"]:
        words = f"{counted(counts['error'], 'error')} and {warnings}: this plan must not be built as it is."
        return Verdict("error", "✗", words)
    if counts["warning"]:
        return Verdict("warning", "!", f"No check found an error; {warnings} to be judged by a person.")
    return Verdict("ok", "✓", "Every check passed.")


def tiles(plan: SitePlan) -> Iterator[Tile]:
    """Yield the figures that a reader wants first."""
    racks = plan.facility.racks
    systems = Counter(node.system for node in plan.nodes)
    yield Tile("Nodes", grouped(len(plan.nodes)), ", ".join(f"{count} x {name}" for name, count in systems.items()))
    yield Tile("GPUs", grouped(sum(node.gpus for node in plan.nodes)), _gpu_models(plan))
    rows = len({(rack.hall, rack.row) for rack in racks})
    halls = counted(len({rack.hall for rack in racks}), "hall")
    yield Tile("Racks", grouped(len(racks)), f"in {counted(rows, 'row')} of {halls}")
    yield Tile("IT power", kilowatts(plan.facility.it_power_w), "at most, all nodes, switches and service hosts")
    yield from (
        Tile(
            f"Cooling {unit.name}",
            percent(unit.load_w, unit.capacity_after_loss_w),
            f"{kilowatts(unit.load_w)} of {kilowatts(unit.capacity_after_loss_w)} with the spare units out",
        )
        for unit in plan.facility.cooling
    )
    yield _fullest(racks)
    if (estimate := plan.facility.pue) is not None:
        more = f"{kilowatts(estimate.facility_power_w)} with all overheads, estimated from parts"
        yield Tile("PUE", "unknown" if estimate.pue is None else f"{estimate.pue:.2f}", more)


def _gpu_models(plan: SitePlan) -> str:
    return ", ".join(dict.fromkeys(pool.gpu.model for pool in plan.pools if pool.gpu))


def _fullest(racks: Sequence[RackPlan]) -> Tile:
    """Return the feed that is fullest after its worst loss; one whose load is not known may be the fullest."""
    feeds: list[tuple[RackPlan, FeedPlan]] = [(rack, feed) for rack in racks for feed in rack.feeds]
    unknown = sum(feed.load_after_loss_w is None for _, feed in feeds)
    if unknown:
        return Tile("Fullest feed", "unknown", f"{counted(unknown, 'feed')} without a known load")
    rack, feed = max(feeds, key=lambda each: (each[1].load_after_loss_w or 0.0) / each[1].capacity_w)
    figure = percent(feed.load_after_loss_w, feed.capacity_w)
    return Tile("Fullest feed", figure, f"feed {feed.name} of {rack.name}, after the worst loss")
