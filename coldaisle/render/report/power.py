"""
Power in the report: the chain, every kind of draw, banks and phases, and the order of a start after a blackout.

What is alike is one line with the names of all that it is of, so that a site of five hundred racks reads like one of
thirty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from coldaisle.plan.model import BankPlan, DrawsPlan, FeedPlan, PhasePlan, RackPlan, SitePlan, UpstreamPlan
from coldaisle.render.report.bars import Bar, current_bar, power_bar
from coldaisle.spec.ranges import fold
from coldaisle.units import counted, kilowatts, percent

MANY = 40
"""Lines of a table above which it is folded away, to be opened by whoever wants it."""
_KINDS = {"typical_w": "typical", "transient_w": "transient", "startup_w": "start-up"}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the power chain. `catches` are the parts that it takes over for, and `loss` what it turns into heat."""

    plan: UpstreamPlan
    bar: Bar
    catches: str
    loss: str


@dataclass(frozen=True, slots=True)
class DrawLine:
    """What something draws at most and otherwise; `over` says that its excursions pass the rating of its breaker."""

    name: str
    kind: str
    figures: tuple[str, ...]
    over: bool = False


@dataclass(frozen=True, slots=True)
class Draws:
    """Lines of draws, and the figures that are not known, each with the models that lack it."""

    lines: tuple[DrawLine, ...]
    lacking: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BankLine:
    """A bank or a phase: amperes of what it may carry, its watts, the outlets that are taken, and what is in them."""

    name: str
    phase: str
    bar: Bar
    power: str
    outlets: str
    supplies: str


@dataclass(frozen=True, slots=True)
class Banks:
    """
    The banks and phases of feeds that are alike; `example` is the one whose supplies are named.

    `fullest` is said in the heading, since a long list of tables is folded away.
    """

    name: str
    circuit: str
    example: str
    banks: tuple[BankLine, ...]
    phases: tuple[BankLine, ...]
    unplugged: str
    fullest: str

    @property
    def lines(self) -> int:
        """Return how many lines their table has."""
        return len(self.banks) + len(self.phases)


@dataclass(frozen=True, slots=True)
class Step:
    """One group of a start; `over` is empty unless it overloads something whatever was started before."""

    racks: str
    devices: str
    startup: str
    running: str
    together: str
    over: str


# -- the chain ----------------------------------------------------------------------------------------------------
def chain(plan: SitePlan) -> tuple[Part, ...]:
    """Return the power chain from the top down."""
    return tuple(
        Part(part, power_bar(part.load_w, part.load_after_loss_w, part.capacity_w, _after(part)), *_more(part))
        for part in _from_above(plan)
    )


def _from_above(plan: SitePlan) -> list[UpstreamPlan]:
    by_name = {part.name: part for part in plan.facility.upstream}
    return sorted(by_name.values(), key=lambda part: (_depth(part, by_name), part.name))


def _more(part: UpstreamPlan) -> tuple[str, str]:
    loss = "not counted" if part.efficiency is None else kilowatts(part.loss_w)
    return fold(part.catcher_for), loss


def _after(part: UpstreamPlan) -> str:
    return f"after the loss of {part.worst_loss}" if part.worst_loss else "after a loss"


def _depth(part: UpstreamPlan, by_name: Mapping[str, UpstreamPlan]) -> int:
    """Return how many parts are above one; a chain that leads back to itself is walked once."""
    seen: list[str] = []
    while (above := part.fed_by) is not None and above in by_name and above not in seen:
        seen.append(above)
        part = by_name[above]
    return len(seen)


# -- draws --------------------------------------------------------------------------------------------------------
def draws(plan: SitePlan) -> Draws:
    """Return what the site, its chain, its racks and their feeds draw, each kind of draw beside the others."""
    facility = plan.facility
    lines = [DrawLine(plan.name, "IT load", _figures(facility.it_power_w, facility.it_draws))]
    lines += [DrawLine(part.name, part.kind, _figures(part.load_w, part.draws)) for part in _from_above(plan)]
    lines += [DrawLine(rack.name, "rack", _figures(rack.power_w, rack.draws)) for rack in facility.racks]
    lacking = tuple(_lacking(facility.racks))
    return Draws((*_alike(lines), *_feed_draws(facility.racks)), lacking)


def _figures(most_w: float | None, draws: DrawsPlan) -> tuple[str, ...]:
    return tuple(map(kilowatts, (most_w, draws.typical_w, draws.transient_w, draws.startup_w)))


def _alike(lines: Iterable[DrawLine]) -> Iterator[DrawLine]:
    """Yield lines of one kind and the same figures once, with the names of all."""
    groups: dict[DrawLine, list[str]] = {}
    for line in lines:
        groups.setdefault(replace(line, name=""), []).append(line.name)
    for line, names in groups.items():
        yield replace(line, name=fold(names))


def _feed_draws(racks: Iterable[RackPlan]) -> Iterator[DrawLine]:
    """Yield the draws of feeds: those of a rack that are alike together, and then the racks that are alike."""
    groups: dict[tuple[str, DrawLine], list[str]] = {}
    for rack in racks:
        alike: dict[DrawLine, list[str]] = {}
        for feed in rack.feeds:
            alike.setdefault(_feed_line(feed), []).append(feed.name)
        for line, names in alike.items():
            groups.setdefault((_feeds(names), line), []).append(rack.name)
    for (feeds, line), names in groups.items():
        yield replace(line, name=f"{fold(names)}: {feeds}")


def _feeds(names: Collection[str]) -> str:
    return f"{'feed' if len(names) == 1 else 'feeds'} {fold(names)}"


def _feed_line(feed: FeedPlan) -> DrawLine:
    over = (feed.draws.transient_w or 0.0) > feed.capacity_w / feed.derating
    return DrawLine("", "feed", _figures(feed.load_w, feed.draws), over)


def _lacking(racks: Iterable[RackPlan]) -> Iterator[str]:
    """Yield each kind of draw that is not known of some device, with the models."""
    devices = {(device.model, device.draws) for rack in racks for device in rack.devices}
    for key, words in _KINDS.items():
        models = sorted({model for model, known in devices if getattr(known, key) is None})
        if models:
            yield f"the {words} draw of {', '.join(models)}"


# -- banks and phases ---------------------------------------------------------------------------------------------
def banks(plan: SitePlan) -> tuple[Banks, ...]:
    """Return banks and phases of every feed that names its banks, those of feeds that are alike once."""
    groups: dict[Banks, dict[str, list[str]]] = {}
    for rack in plan.facility.racks:
        for feed in rack.feeds:
            if feed.banks:
                found = groups.setdefault(_banks(feed), {})
                found.setdefault(rack.name, []).append(feed.name)
    by_name = {rack.name: rack for rack in plan.facility.racks}
    return tuple(_named(group, racks, by_name) for group, racks in groups.items())


def _banks(feed: FeedPlan) -> Banks:
    """Return what the banks of a feed carry, without the names of whose they are."""
    reference = feed.voltage_reference.replace("-", " ")
    return Banks(
        name="",
        circuit=f"{feed.voltage_v:g} V {reference}, {counted(feed.phases, 'phase')}, {feed.breaker_a:g} A",
        example="",
        banks=tuple(_bank(bank) for bank in feed.banks),
        phases=tuple(_phase(phase) for phase in feed.phase_loads),
        unplugged=counted(len(feed.unplugged), "supply", "supplies") if feed.unplugged else "",
        fullest=_fullest((*feed.banks, *feed.phase_loads)),
    )


def _fullest(parts: Iterable[BankPlan | PhasePlan]) -> str:
    """Return the bank or phase that is fullest after a loss; one whose current is not known may be the fullest."""
    every = list(parts)
    unknown = [part.name for part in every if part.load_after_loss_a is None]
    if unknown:
        return f"not known of {fold(unknown)}"
    most = max(every, key=lambda part: (part.load_after_loss_a or 0.0) / part.capacity_a)
    return f"fullest is {most.name}, {percent(most.load_after_loss_a, most.capacity_a)} after a loss"


def _bank(bank: BankPlan) -> BankLine:
    taken = str(len(bank.supplies)) if bank.outlets is None else f"{len(bank.supplies)} of {bank.outlets}"
    bar = current_bar(bank.load_a, bank.load_after_loss_a, bank.capacity_a)
    return BankLine(bank.name, bank.phase or "not named", bar, kilowatts(bank.load_w), taken, "")


def _phase(phase: PhasePlan) -> BankLine:
    bar = current_bar(phase.load_a, phase.load_after_loss_a, phase.capacity_a)
    return BankLine(phase.name, phase.name, bar, "", "", "")


def _named(group: Banks, racks: Mapping[str, list[str]], by_name: Mapping[str, RackPlan]) -> Banks:
    """Return banks with the names of all racks that have them, and with the supplies of the first feed of the first."""
    feeds = {name for names in racks.values() for name in names}
    first, (feed_name, *_) = next(iter(racks.items()))
    feed = next(feed for feed in by_name[first].feeds if feed.name == feed_name)
    filled = zip(group.banks, feed.banks, strict=True)
    return replace(
        group,
        name=f"{fold(racks)}: {_feeds(feeds)}",
        example=f"{first}, feed {feed_name}",
        banks=tuple(replace(line, supplies=", ".join(bank.supplies)) for line, bank in filled),
    )


# -- start after a blackout -----------------------------------------------------------------------------------------
def start(plan: SitePlan) -> tuple[Step, ...] | None:
    """Return the groups in which a site starts after a blackout; None where a draw that this needs is not known."""
    if plan.facility.start_order is None:
        return None
    return tuple(
        Step(
            racks=fold(group.racks),
            devices=str(len(group.devices)),
            startup=kilowatts(group.startup_w),
            running=kilowatts(group.running_w),
            together=kilowatts(group.startup_w + group.running_w),
            over=fold(group.over),
        )
        for group in plan.facility.start_order
    )
