"""
What a planned cable is that nobody sees: missing, explained by a device without power, or not to be told.

A port without a neighbour proves something only where its table is whole and the other end would have spoken. A host
that runs no LLDP is never heard by anybody, and a cable to it cannot be told from none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from coldaisle.plan.model import End
from coldaisle.verify.resolve import side_of
from coldaisle.verify.seen import Answer
from coldaisle.verify.wanted import Wanted, WantedCable

NO_ANSWER = "neither end's neighbours were given"
CUT_OFF = "a table of neighbours was cut off"
NO_SUBNET = "no output of ibnetdiscover for this fabric was given"


@dataclass(slots=True)
class Voices:
    """Who answered, in whole or in part, and who was heard by somebody. Fabrics are those that an answer covers."""

    whole: set[str] = field(default_factory=set)
    part: set[str] = field(default_factory=set)
    heard: set[tuple[str, bool]] = field(default_factory=set)
    subnet: set[str] = field(default_factory=set)
    covered: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)

    def is_alive(self, device: str) -> bool:
        """Tell whether a device has power, as anybody can tell."""
        return device in self.whole | self.part | self.subnet or (device, False) in self.heard


def voices(wanted: Wanted, answers: Iterable[Answer], heard: set[tuple[str, bool]]) -> Voices:
    """Return who spoke. An answer of a whole subnet covers the fabrics whose switches it describes."""
    found = Voices(heard=set(heard))
    fabrics = defaultdict(set)
    for cable in wanted.cables:
        for end in cable.ends:
            fabrics[end.device].add(cable.fabric if cable.speaks_ib else "")
    for answer in answers:
        names = {side.device for told in answer.speakers if (side := side_of(wanted, told, set())).device}
        speakers = {name for name in names if name}
        if answer.protocol == "lldp":
            (found.whole if answer.whole else found.part).update(speakers)
            continue
        reached = {fabric for name in speakers if wanted.devices[name].is_switch for fabric in fabrics[name]} - {""}
        found.subnet |= speakers
        found.covered |= reached
        found.cut |= set() if answer.whole else reached
    found.part -= found.whole
    return found


@dataclass(slots=True)
class Dark:
    """The cables that nobody sees, sorted by what they are: missing, unknown (with the reason), or a device's."""

    missing: list[WantedCable] = field(default_factory=list)
    unknown: list[tuple[WantedCable, str]] = field(default_factory=list)
    unpowered: dict[str, list[WantedCable]] = field(default_factory=dict)


def sort_out(cables: Iterable[WantedCable], wanted: Wanted, spoke: Voices) -> Dark:
    """Return what each unseen cable is."""
    cables = list(cables)
    told = [(cable, _verdict(cable, wanted, spoke)) for cable in cables]
    off = _switched_off(told, wanted)
    dark = Dark()
    for cable, verdict in told:
        if verdict.silent and verdict.silent in off:
            dark.unpowered.setdefault(verdict.silent, []).append(cable)
        elif verdict.silent or verdict.missing:
            dark.missing.append(cable)
        else:
            dark.unknown.append((cable, verdict.why))
    return dark


@dataclass(frozen=True, slots=True)
class _Verdict:
    """A cable is missing, or `silent` is the end that says nothing to anybody and should, or it is not known why."""

    missing: bool = False
    silent: str | None = None
    why: str = ""


def _verdict(cable: WantedCable, wanted: Wanted, spoke: Voices) -> _Verdict:
    return _ib_verdict(cable, spoke) if cable.speaks_ib else _lldp_verdict(cable, wanted, spoke)


def _ib_verdict(cable: WantedCable, spoke: Voices) -> _Verdict:
    """In a subnet that is known whole, a device without any link is off, unless it speaks elsewhere."""
    if cable.fabric not in spoke.covered:
        return _Verdict(why=NO_SUBNET)
    if cable.fabric in spoke.cut:
        return _Verdict(why=CUT_OFF)
    silent = [end.device for end in cable.ends if not spoke.is_alive(end.device)]
    return _Verdict(silent=silent[0]) if silent else _Verdict(missing=True)


def _lldp_verdict(cable: WantedCable, wanted: Wanted, spoke: Voices) -> _Verdict:
    viewed = [end for end in cable.ends if end.device in spoke.whole and not _is_bmc(wanted, end)]
    if not viewed:
        cut = any(end.device in spoke.part for end in cable.ends)
        return _Verdict(why=CUT_OFF if cut else NO_ANSWER)
    others = [cable.other(end) for end in viewed]
    if any(_speaks(wanted, end, spoke) for end in others):
        return _Verdict(missing=True)
    other = others[0]
    if _is_bmc(wanted, other):
        return _Verdict(why="management controllers speak no LLDP")
    if other.device in wanted.lldp_switches and not spoke.is_alive(other.device):
        return _Verdict(silent=other.device)
    return _Verdict(why=f"{other.device} is not heard on any port: it speaks no LLDP, or is off")


def _speaks(wanted: Wanted, end: End, spoke: Voices) -> bool:
    """Tell whether a device would have been heard at an end."""
    is_bmc = _is_bmc(wanted, end)
    return (end.device, is_bmc) in spoke.heard or (not is_bmc and end.device in spoke.whole | spoke.part)


def _is_bmc(wanted: Wanted, end: End) -> bool:
    return end.port in wanted.devices[end.device].bmc_ports


def _switched_off(told: list[tuple[WantedCable, _Verdict]], wanted: Wanted) -> set[str]:
    """Return the devices that more than one cable says nothing of; one silent cable is a cable's fault as well."""
    silent = Counter(verdict.silent for _, verdict in told if verdict.silent)
    planned = Counter(end.device for cable in wanted.cables for end in cable.ends)
    return {device for device, count in silent.items() if count > 1 or planned[device] == 1}
