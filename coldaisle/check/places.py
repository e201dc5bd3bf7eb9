"""Where racks and their parts stand in the spec, and how a row of like things is named in one message."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from coldaisle.check.finding import Finding, Severity
from coldaisle.plan.model import FeedPlan, LedgerLine, RackPlan, SitePlan
from coldaisle.plan.power.draws import BUDGETED, CAPPED
from coldaisle.spec.facility import PlacedRack
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import grouped

_CATALOG = "inventory/catalog/"

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def racks_of(spec: SiteSpec) -> dict[str, PlacedRack]:
    """Return every rack by name, with its line of the spec."""
    return spec.racks_by_name


def grouped_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return items by key, in the order in which each key came first: one message for what is alike."""
    groups: defaultdict[K, list[T]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return dict(groups)


def named(names: Sequence[str], noun: str = "rack", plural: str | None = None) -> str:
    """Return like things as a message names them: `rack r03`, or `8 racks (r01 … r08)`."""
    if len(names) == 1:
        return f"{noun} {names[0]}"
    return f"{len(names)} {plural or noun + 's'} ({names[0]} … {names[-1]})"


def rack_finding(  # noqa: PLR0913 - the parts of a finding
    spec: SiteSpec,
    rack: PlacedRack,
    check: str,
    *,
    what: str,
    fix: str,
    have: str = "",
    below: Loc = (),
    path: str = "",
    severity: Severity = "error",
) -> Finding:
    """Return a finding at a rack's line, or at a value below it; its path names the rack and not the range."""
    where = spec.marks.where((*rack.path, *below))
    full = f"racks[{rack.name}]{path}"
    return Finding(check=check, where=where, path=full, what=what, have=have, fix=fix, severity=severity)


def feeds_of(plan: SitePlan) -> list[tuple[RackPlan, int, FeedPlan]]:
    """Return every feed with its rack and its place in the rack."""
    return [(rack, at, feed) for rack in plan.facility.racks for at, feed in enumerate(rack.feeds)]


def circuit(feed: FeedPlan) -> str:
    """Return how a feed's capacity comes about: `415 V x 60 A x 80 %`."""
    # Three phases line to line are the usual case, so they are written as electricians say them.
    factor = "3 x " if feed.phases == 3 and feed.voltage_reference == "line-to-neutral" else ""  # noqa: PLR2004
    power_factor = f" x power factor {feed.power_factor:g}" if feed.power_factor != 1 else ""
    return f"{factor}{grouped(feed.voltage_v)} V x {feed.breaker_a:g} A x {100 * feed.derating:g} %{power_factor}"


def draws(spec: SiteSpec, rack: RackPlan) -> str:
    """Return what draws in a rack, largest first, and where it stands: `4 x dgx-h100 at 10 200 W (file:12)`."""
    lines = sorted(rack.power_lines, key=lambda line: -(line.total or 0.0))
    return ", ".join(
        f"{line.count} x {line.item} at {'unknown' if line.each is None else grouped(line.each) + ' W'}"
        f" ({_source(spec, line)})"
        for line in lines
    )


def _source(spec: SiteSpec, line: LedgerLine) -> str:
    if line.source == BUDGETED:
        return BUDGETED
    cap = line.source.partition(";")[0] + "; " if line.source.startswith(CAPPED) else ""
    return cap + _place(spec, line.item)


def _place(spec: SiteSpec, model: str) -> str:
    for kind in ("systems", "switches"):
        for loc in ((kind, model, "max_power_w"), (kind, model)):
            where = catalog_line(spec, *loc)
            if where:
                return where
    return "not in the catalog"


def catalog_place(spec: SiteSpec, *loc: str) -> str:
    """Return `file:line:column` of a catalog entry; the package's own files are named from `inventory/` on."""
    return shortened(spec.catalog_where(*loc))


def shortened(where: str) -> str:
    """Return a place of the catalog from `inventory/` on, where it is one of the package's own files."""
    before, name, rest = where.rpartition(_CATALOG)
    return name + rest if name else before + rest


def catalog_line(spec: SiteSpec, *loc: str) -> str:
    """Return `file:line` of a catalog entry."""
    return catalog_place(spec, *loc).rpartition(":")[0]
