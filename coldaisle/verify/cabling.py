"""
Cables as they are against cables as they were planned. Pure: answers in, a report out.

The same cables give the same report, whichever end told of them, in whatever order, and once or twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from coldaisle.plan.model import End
from coldaisle.units import counted
from coldaisle.verify.dark import Dark, sort_out, voices
from coldaisle.verify.exchange import Exchange, Move, Step, components, key, steps
from coldaisle.verify.report import CablingReport, Finding, Unknown
from coldaisle.verify.resolve import Link, links_of, one_each
from coldaisle.verify.seen import Answer
from coldaisle.verify.wanted import Wanted, WantedCable

PORT_NOT_TOLD = "the devices are those of the plan, and a port was not named"


def compare(wanted: Wanted, answers: Sequence[Answer], device: str | None = None) -> CablingReport:
    """
    Compare what was told with the plan.

    Args:
        wanted: The plan's cables.
        answers: What each file tells.
        device: Report only what concerns this device.
    """
    links = links_of(wanted, answers)
    at = one_each(wanted, links)
    seen = {end: link.other(end) for end, link in at.items()}
    misplugged, mended = _misplugged(wanted, seen)
    torn = {end for _, one, two in links.unclear for end in (one, two)}
    right = [cable for cable in wanted.cables if seen.get(cable.plan.a) == cable.plan.b]
    unnamed = [cable for cable in right if at[cable.plan.a].inferred]
    unseen = [cable for cable in wanted.cables if not {cable.plan.a, cable.plan.b} & (torn | mended)]
    dark = sort_out(
        [cable for cable in unseen if seen.get(cable.plan.a) != cable.plan.b],
        wanted,
        voices(wanted, answers, links.heard),
    )
    found = [*_strangers(wanted, at), *misplugged, *_dark_findings(dark, seen)]
    unknown = {Unknown(reason=why, a=one, b=two) for why, one, two in links.unclear}
    unknown |= {Unknown(reason=why, a=cable.plan.a, b=cable.plan.b) for cable, why in dark.unknown}
    unknown |= {Unknown(reason=PORT_NOT_TOLD, a=cable.plan.a, b=cable.plan.b) for cable in unnamed}
    return CablingReport(
        planned=_count(wanted.cables, device),
        as_planned=_count(right, device) - _count(unnamed, device),
        findings=tuple(sorted((one for one in found if _in(device, one.devices)), key=lambda one: one.order)),
        unknown=tuple(sorted(one for one in unknown if _in(device, {one.a.device, one.b.device}))),
        notes=tuple(sorted(links.notes)),
        ignored=links.ignored,
        places=dict(wanted.places),
    )


def _in(device: str | None, devices: Iterable[str]) -> bool:
    """Tell whether something concerns a device; without one, everything does."""
    return device is None or device in devices


def _count(cables: Iterable[WantedCable], device: str | None) -> int:
    return sum(1 for cable in cables if _in(device, (cable.plan.a.device, cable.plan.b.device)))


def _named(end: End) -> str:
    return f"{end.device}:{end.port}"


def _strangers(wanted: Wanted, at: Mapping[End, Link]) -> Iterable[Finding]:
    """Yield the cables to devices that the plan does not have."""
    for link in sorted(set(at.values()), key=lambda link: sorted(map(key, link.ends))):
        one, two = sorted(link.ends, key=lambda end: (end.device not in wanted.devices, key(end)))
        if two.device not in wanted.devices:
            yield _extra(wanted, one, two, " which is not in the plan")


def _extra(  # noqa: PLR0913, PLR0917 - both ends, why, and its place among what belongs together
    wanted: Wanted,
    one: End,
    two: End,
    why: str = "",
    place: tuple[int, int] = (1, 1),
    devices: frozenset[str] = frozenset(),
) -> Finding:
    planned = [cable for end in (one, two) if (cable := wanted.by_end.get(end))]
    instead = f"; planned there: {_named(planned[0].other(one if one in planned[0].ends else two))}" if planned else ""
    return Finding(
        kind="extra",
        what=f"a cable joins {_named(one)} and {_named(two)}{why}{instead}",
        fix=f"unplug it at {_named(one)}, or plan it",
        ends=(one, two),
        cables=tuple(cable.ends for cable in planned),
        devices=devices | {one.device, two.device},
        step=place[0],
        steps=place[1],
    )


def _misplugged(wanted: Wanted, seen: Mapping[End, End]) -> tuple[list[Finding], set[End]]:
    """Return what to exchange, to move and to unplug among the plan's devices, and the ends that are then right."""
    ours = {end: peer for end, peer in seen.items() if {end.device, peer.device} <= wanted.devices.keys()}
    planned = {end: cable.other(end) for end, cable in wanted.by_end.items()}
    findings: list[Finding] = []
    mended: set[End] = set()
    for group in components(planned, ours):
        todo, then = steps(group, planned, ours, lambda one, two: _distance(wanted, one, two))
        devices = frozenset(end.device for end in group)
        findings += [_finding(wanted, step, (number, len(todo)), devices) for number, step in enumerate(todo, 1)]
        mended |= {end for end, peer in then.items() if planned.get(end) == peer}
    return findings, mended


def _distance(wanted: Wanted, one: End, two: End) -> int:
    """Return how far apart two plugs are: in one device, in one rack, or further."""
    if one.device == two.device:
        return 0
    here, there = wanted.places.get(one.device), wanted.places.get(two.device)
    return 1 if here and there and here[0] == there[0] else 2


def _finding(wanted: Wanted, step: Step, place: tuple[int, int], devices: frozenset[str]) -> Finding:
    """Return what a step says; `place` is its number and how many there are."""
    if isinstance(step, Exchange):
        return _swap(wanted, step, place, devices)
    if isinstance(step, Move):
        return _move(wanted, step, place, devices)
    return _extra(wanted, step.one, step.two, place=place, devices=devices)


def _swap(wanted: Wanted, step: Exchange, place: tuple[int, int], devices: frozenset[str]) -> Finding:
    crossed = _crosses(wanted, step.one, step.one_far) or _crosses(wanted, step.two, step.two_far)
    rails = ", across rails" if crossed else ""
    ends = (step.one, step.two, step.one_far, step.two_far)
    return Finding(
        kind="swapped",
        what=f"the cables at {_named(step.one)} and {_named(step.two)} are swapped{rails}: they come from "
        f"{_named(step.one_far)} and {_named(step.two_far)}",
        fix=f"exchange the plugs at {_named(step.one)} and {_named(step.two)}",
        ends=(step.one, step.two),
        cables=_cables(wanted, ends),
        wrong_rail=crossed,
        step=place[0],
        steps=place[1],
        devices=devices,
    )


def _move(wanted: Wanted, step: Move, place: tuple[int, int], devices: frozenset[str]) -> Finding:
    crossed = _crosses(wanted, step.at, step.far)
    rails = f" of rail {wanted.rail_of(step.at)}, not of rail {wanted.rail_of(step.far)}" if crossed else ""
    return Finding(
        kind="wrong-rail" if crossed else "wrong-port",
        what=f"the cable from {_named(step.far)} is in {_named(step.at)}{rails}, and belongs into {_named(step.to)}",
        fix=f"move the plug from {_named(step.at)} to {_named(step.to)}",
        ends=(step.at, step.to),
        cables=_cables(wanted, (step.far,)),
        wrong_rail=crossed,
        step=place[0],
        steps=place[1],
        devices=devices,
    )


def _crosses(wanted: Wanted, one: End, two: End) -> bool:
    """Tell whether a link joins two rails."""
    rails = {rail for end in (one, two) if (rail := wanted.rail_of(end)) is not None}
    return len(rails) > 1


def _cables(wanted: Wanted, ends: Iterable[End]) -> tuple[tuple[End, End], ...]:
    return tuple(dict.fromkeys(wanted.by_end[end].ends for end in ends if end in wanted.by_end))


def _dark_findings(dark: Dark, seen: Mapping[End, End]) -> list[Finding]:
    off = [_unpowered(device, cables) for device, cables in dark.unpowered.items()]
    return off + [_missing(cable, seen) for cable in dark.missing]


def _unpowered(device: str, cables: list[WantedCable]) -> Finding:
    cables = sorted(cables, key=lambda cable: key(cable.plan.a) + key(cable.plan.b))
    peers = {end.device for cable in cables for end in cable.ends} - {device}
    own = next(end for end in cables[0].ends if end.device == device)
    return Finding(
        kind="unpowered",
        what=f"none of the {counted(len(peers), 'device')} beside {device} sees it, on {counted(len(cables), 'cable')}",
        fix=f"power {device} on and look again; if it runs, all of its cables are missing",
        ends=(own, cables[0].other(own)),
        cables=tuple(cable.ends for cable in cables),
        devices=frozenset({device, *peers}),
    )


def _missing(cable: WantedCable, seen: Mapping[End, End]) -> Finding:
    a, b = cable.ends
    taken = [f"; {_named(end)} is taken by {_named(seen[end])}" for end in (a, b) if end in seen]
    return Finding(
        kind="missing",
        what=f"no link between {_named(a)} and {_named(b)}{''.join(taken)}",
        fix=f"plug it in at both ends; if it is, look at the link of {_named(b)}",
        ends=(a, b),
        cables=(cable.ends,),
        devices=frozenset({a.device, b.device}),
    )
