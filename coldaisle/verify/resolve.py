"""
Which link of the plan's devices and ports each seen neighbour is.

A neighbour may name itself in full, in short, by a hardware address, or not its port at all. What is certain becomes
a link; what can only be inferred from the plan is marked so; the rest is said, never guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from coldaisle.plan.model import End
from coldaisle.verify.seen import Answer, Neighbour, Told
from coldaisle.verify.wanted import Wanted

UNNAMED = "?"
NO_NAMES = frozenset({"localhost", "localhost.localdomain", "ubuntu", "debian", "sonic", "cumulus", "(none)"})
"""Names that a fresh system has before anybody gives it one."""
NAMELESS = "a neighbour has no name of its own, and no address of the delivery list"


@dataclass(frozen=True, slots=True)
class Side:
    """
    One end of a seen link.

    `known` tells that its port is one of its device's. `device` is None for strangers, and for the `nameless`, who may
    be anybody.
    """

    device: str | None
    end: End
    known: bool
    maybe: tuple[str, ...] = ()
    nameless: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A seen link. `seen_from` are its ends that told of it; an inferred link had a port that nobody named."""

    ends: frozenset[End]
    seen_from: frozenset[End]
    inferred: bool = False

    def other(self, end: End) -> End:
        """Return the end that is not this one."""
        return next(iter(self.ends - {end}), end)


@dataclass(slots=True)
class Links:
    """All seen links, each once, and what could not be made out. `heard` are the devices that told of themselves."""

    by_ends: dict[frozenset[End], Link] = field(default_factory=dict)
    heard: set[tuple[str, bool]] = field(default_factory=set)
    unclear: list[tuple[str, End, End]] = field(default_factory=list)
    nameless: list[tuple[End, End]] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)
    ignored: int = 0

    def add(self, link: Link) -> None:
        """Add a link; one that was seen before is the same link, and is certain when either view is."""
        old = self.by_ends.get(link.ends)
        if old:
            link = replace(link, seen_from=link.seen_from | old.seen_from, inferred=link.inferred and old.inferred)
        self.by_ends[link.ends] = link


def links_of(wanted: Wanted, answers: Iterable[Answer]) -> Links:
    """Return every link that answers tell of, each once, whichever end told of it and in whatever order."""
    links = Links()
    for answer in answers:
        links.notes.update(answer.notes)
        for neighbour in answer.neighbours:
            _add(wanted, links, neighbour)
    return links


def _add(wanted: Wanted, links: Links, neighbour: Neighbour) -> None:
    local, remote = side_of(wanted, neighbour.local, links.notes), side_of(wanted, neighbour.remote, links.notes)
    _hear(wanted, links, remote)
    if local.maybe or remote.maybe:
        short = local if local.maybe else remote
        why = f"{short.end.device} is a shortened name: it may be {' or '.join(short.maybe)}"
        links.unclear.append((why, local.end, remote.end))
    elif not local.known and remote.device is None:
        links.ignored += 1
    elif local.nameless or remote.nameless:
        links.nameless.append((remote.end, local.end) if local.nameless else (local.end, remote.end))
    else:
        _join(wanted, links, local, remote)


def _hear(wanted: Wanted, links: Links, remote: Side) -> None:
    """Note that a device told of itself; a management controller speaks for itself alone."""
    if remote.device is not None:
        links.heard.add((remote.device, remote.end.port in wanted.devices[remote.device].bmc_ports))


def _join(wanted: Wanted, links: Links, local: Side, remote: Side) -> None:
    one, two = local, remote
    if not remote.known and remote.device:
        two = _inferred(wanted, remote, local)
    if not local.known and local.device:
        one = _inferred(wanted, local, two)
        two = two if two.known else _inferred(wanted, remote, one)
    inferred = (one.end, two.end) != (local.end, remote.end)
    if one.end == two.end:
        links.ignored += 1
    elif one.known or two.known:
        links.add(Link(frozenset({one.end, two.end}), frozenset({one.end}), inferred))
    else:
        links.unclear.append(("no port of either end is one of the plan's", one.end, two.end))


def _inferred(wanted: Wanted, unknown: Side, other: Side) -> Side:
    """Return a side whose port follows from the plan: the other end's peer, or the only cable of the two devices."""
    cable = wanted.by_end.get(other.end)
    if cable and cable.other(other.end).device == unknown.device:
        return replace(unknown, end=cable.other(other.end), known=True)
    cables = wanted.between.get(frozenset({unknown.end.device, other.end.device}), [])
    if len(cables) == 1:
        end = next(end for end in cables[0].ends if end.device == unknown.device)
        return replace(unknown, end=end, known=True)
    return unknown


def side_of(wanted: Wanted, told: Told, notes: set[str]) -> Side:
    """
    Return which device and port somebody tells of.

    Hardware addresses of the delivery list win over names, since a fresh host may bear any name. Of a port, its name
    wins over its address: the ports of a bond share one.
    """
    device, maybe = _device(wanted, told, notes)
    if device is None:
        # InfiniBand switches without a name have their chip's, so that one whom the plan does not know may be any.
        nameless = (told.name or "localhost").lower() in NO_NAMES or told.number is not None
        return Side(None, End(device=told.label, port=told.port_label), known=False, maybe=maybe, nameless=nameless)
    port = _port(wanted, told, device)
    return Side(device, End(device=device, port=port or _unnamed(told)), known=port is not None)


def _unnamed(told: Told) -> str:
    return f"{UNNAMED} ({told.port_label})" if told.port_label != UNNAMED else UNNAMED


def _device(wanted: Wanted, told: Told, notes: set[str]) -> tuple[str | None, tuple[str, ...]]:
    """Return the device, or those that it may be."""
    by_guid = wanted.guids.get(told.guid or "")
    by_mac = {wanted.macs[mac].device for mac in told.macs if mac in wanted.macs}
    delivered = {by_guid.device} if by_guid else by_mac
    named = wanted.named(told.name) if told.name else ()
    if len(delivered) == 1:
        (device,) = delivered
        if named and device not in named:
            what = "the GUID" if by_guid else "an address"
            notes.add(f"{told.name} has {what} of {device} in the delivery list, and is taken for {device}")
        return device, ()
    if len(named) != 1:
        return None, named
    if told.name and not told.name.lower().startswith(named[0].lower()):
        notes.add(f"{told.name} is taken for {named[0]}, the only name that begins so")
    return named[0], ()


def _port(wanted: Wanted, told: Told, device: str) -> str | None:
    known = wanted.devices[device]
    if told.number is not None:
        return known.ports[told.number - 1] if 0 < told.number <= len(known.ports) else None
    if by_guid := wanted.guids.get(told.guid or ""):
        return by_guid.port or None
    for name in told.ports:
        if port := known.port(name):
            return port
    return next((wanted.macs[mac].port for mac in told.macs if mac in wanted.macs), None)


def one_each(wanted: Wanted, links: Links) -> dict[End, Link]:
    """
    Return the one link of each end.

    Where an end has several, what both ends told of wins over what one told of, and what was told over what was
    inferred. A stranger beside the planned peer, such as an adapter's own agent, is no second cable. What still
    disagrees is unclear: one of the tables is out of date.
    """
    at: defaultdict[End, list[Link]] = defaultdict(list)
    for link in links.by_ends.values():
        for end in link.ends:
            at[end].append(link)
    lost = {link.ends for found in at.values() if len(found) > 1 for link in _losers(wanted, found)}
    kept = [link for ends, link in links.by_ends.items() if ends not in lost]
    counts: dict[End, int] = defaultdict(int)
    for link in kept:
        for end in link.ends:
            counts[end] += 1
    torn = {end for end, count in counts.items() if count > 1}
    for link in kept:
        if link.ends & torn:
            one, two = sorted(link.ends, key=lambda end: (end.device, end.port))
            links.unclear.append(("a port has two neighbours: a table is out of date, or it is no cable", one, two))
    certain = {end: link for link in kept if not link.ends & torn for end in link.ends}
    links.unclear += [(NAMELESS, ours, other) for ours, other in links.nameless if ours not in certain]
    return certain


def _losers(wanted: Wanted, found: list[Link]) -> list[Link]:
    best = max(_rank(wanted, link) for link in found)
    return [link for link in found if _rank(wanted, link) < best]


def _rank(wanted: Wanted, link: Link) -> tuple[bool, int, bool]:
    ours = all(end.device in wanted.devices for end in link.ends)
    return ours, len(link.seen_from), not link.inferred
