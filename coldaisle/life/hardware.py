"""
The parts of a machine as its BMC shows them, against those that were delivered. Pure: records in, a record out.

What is missing is named with the slot or the cable to look at, and what is there instead with where it belongs. Two
machines that were exchanged are one finding and not sixty: every part of both would be at a wrong place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from coldaisle.plan.model import NodePlan, SitePlan
from coldaisle.spec import SiteSpec
from coldaisle.spec.hardware import NodeHardware

Kind = Literal["wrong-node", "missing", "unexpected", "exchanged", "moved"]
KINDS: tuple[Kind, ...] = ("wrong-node", "missing", "exchanged", "moved", "unexpected")

NAMES: Mapping[str, str] = {
    "serial": "chassis",
    "gpus": "GPU",
    "dimms": "memory module",
    "macs": "network port",
    "disks": "disk",
}
"""Kinds of parts by their key in the delivery list, and what people call them."""

SHOWN_AS: Mapping[str, str] = {
    "serial": "system",
    "gpus": "gpus",
    "dimms": "memory",
    "macs": "ports",
    "disks": "drives",
}
"""The same kinds by their name in a BMC's inventory."""

Labels = Mapping[str, str]
"""Serials or MAC addresses by their place: a slot, a port, a label."""


@dataclass(frozen=True, slots=True)
class Difference:
    """
    One part that is not as it was delivered.

    `place` is a slot, a port or a label; `planned` and `seen` are serials or MAC addresses. `look` says where to go.
    """

    kind: Kind
    part: str
    place: str
    planned: str | None
    seen: str | None
    what: str
    look: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a comparison found. `as_planned` counts parts; `could_not_tell` has, by kind of part, why."""

    node: str
    as_planned: int
    differences: tuple[Difference, ...]
    could_not_tell: Mapping[str, str] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        """Whether every part could be told, and is as planned."""
        return not self.differences and not self.could_not_tell

    def as_json(self) -> dict[str, Any]:
        """Return the inspection as plain data."""
        return {**asdict(self), "could_not_tell": dict(self.could_not_tell)}


@dataclass(frozen=True, slots=True)
class Seen:
    """What a BMC shows, by kind of part; `gaps` has, by kind, why it is incomplete."""

    parts: Mapping[str, Labels]
    gaps: Mapping[str, str]


def seen_of(parts: Mapping[str, Iterable[Mapping[str, Any]]], gaps: Mapping[str, str]) -> Seen:
    """Return what a BMC's inventory (`bmc_inventory`) shows; a part without a serial is known by its place alone."""
    found: dict[str, Labels] = {}
    for kind, shown in SHOWN_AS.items():
        label = "mac" if kind == "macs" else "SerialNumber"
        listed = enumerate(parts.get(shown, ()))
        found[kind] = {str(part.get("Id") or at): str(part.get(label) or "") for at, part in listed}
    mine = {kind: gaps[shown] for kind, shown in SHOWN_AS.items() if shown in gaps}
    return Seen(found, mine)


def labels_of(hardware: NodeHardware) -> Iterator[tuple[str, str, str]]:
    """Yield kind, place and label of all in a node's part of the delivery list: its BMC's MAC and its UUID, too."""
    if hardware.serial:
        yield "serial", "", hardware.serial
    if hardware.bmc_mac:
        yield "bmc_mac", "", hardware.bmc_mac
    if hardware.uuid:
        yield "uuid", "", hardware.uuid
    for kind in ("gpus", "dimms", "macs", "disks"):
        yield from ((kind, place, label) for place, label in getattr(hardware, kind).items())


def owners(spec: SiteSpec) -> dict[str, tuple[str, str, str]]:
    """Return node, kind and place of every label of a site's delivery list, by the label in lower case."""
    return {
        label.lower(): (node, kind, place)
        for node, hardware in spec.hardware.items()
        for kind, place, label in labels_of(hardware)
    }


def inspect(spec: SiteSpec, plan: SitePlan, node: NodePlan, seen: Seen) -> Inspection:
    """
    Compare a node's parts with the delivery list.

    Args:
        spec: The site, with its delivery list and the journal of what has left it.
        plan: Its plan, which knows where cables end.
        node: The node.
        seen: What its BMC shows.

    """
    stranger = _stranger(spec, plan, node, seen)
    if stranger is not None:
        return Inspection(node.name, 0, (stranger,), dict(seen.gaps))
    case = _Case(spec, plan, node, owners(spec))
    hardware = spec.hardware.get(node.name, NodeHardware())
    differences: list[Difference] = []
    right, unsure = 0, dict[str, str]()
    for kind in NAMES:
        planned = {place: label for each, place, label in labels_of(hardware) if each == kind}
        found = list(case.compare(kind, planned, seen.parts.get(kind, {})))
        if kind in seen.gaps and (planned or (kind == "gpus" and node.gpus)):
            unsure[kind] = seen.gaps[kind]
            found = [one for one in found if one.kind != "missing"]
        differences += found
        right += _right(planned, seen.parts.get(kind, {}))
    ordered = sorted(differences, key=lambda one: (KINDS.index(one.kind), one.part, one.place))
    return Inspection(node.name, right, tuple(ordered), unsure)


def _right(planned: Labels, seen: Labels) -> int:
    shown = {label.lower() for label in seen.values()}
    return sum(label.lower() in shown for label in planned.values())


def _stranger(spec: SiteSpec, plan: SitePlan, node: NodePlan, seen: Seen) -> Difference | None:
    """Return that another node of the plan answers in this one's place: its chassis, or most of what is known."""
    known = owners(spec)
    labels = [label.lower() for kind in seen.parts.values() for label in kind.values() if label.lower() in known]
    chassis = [known[label.lower()][0] for label in seen.parts.get("serial", {}).values() if label.lower() in known]
    votes = Counter(known[label][0] for label in labels)
    winner = chassis[0] if chassis else max(votes, key=lambda name: votes[name], default=node.name)
    if winner == node.name or (not chassis and votes[winner] * 2 <= len(labels)):
        return None
    other = next((each for each in (*plan.nodes, *plan.retired) if each.name == winner), None)
    where = f"{node.rack} u{node.rack_unit:02d}" + (f" and {other.rack} u{other.rack_unit:02d}" if other else "")
    address = node.bmc.address if node.bmc else "its address"
    return Difference(
        kind="wrong-node",
        part="chassis",
        place=where,
        planned=node.name,
        seen=winner,
        what=f"the BMC at {address} is that of {winner}: the two machines are exchanged, or the cables of their BMCs",
        look=f"read both labels at {where}; exchange the cables of the BMCs, or the names in the delivery list",
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """What the comparison of one node looks up."""

    spec: SiteSpec
    plan: SitePlan
    node: NodePlan
    owners: Mapping[str, tuple[str, str, str]]

    def compare(self, kind: str, planned: Labels, seen: Labels) -> Iterator[Difference]:
        """Yield what differs in one kind of parts; a kind that nobody listed is only counted, and only GPUs are."""
        if not planned:
            yield from self._count(seen) if kind == "gpus" else ()
            return
        if kind in {"serial", "macs", "disks"}:
            yield from self._without_slots(kind, planned, seen)
            return
        for place, label in planned.items():
            if seen.get(place, "").lower() != label.lower():
                yield self._at_slot(kind, place, label, seen)
        yield from (self._unexpected(kind, place, seen[place]) for place in seen if place not in planned)

    def _count(self, seen: Labels) -> Iterator[Difference]:
        wanted = self.node.gpus
        if len(seen) == wanted:
            return
        there = ", ".join(sorted(seen)) or "none"
        what = f"{len(seen)} GPUs are there, and {self.node.system} has {wanted}: {there}"
        look = f"the slots of {self._where()} that are not among them; with serials in the delivery list each is named"
        kind: Kind = "missing" if len(seen) < wanted else "unexpected"
        yield Difference(kind, "gpus", "", str(wanted), str(len(seen)), what, look)

    def _at_slot(self, kind: str, place: str, label: str, seen: Labels) -> Difference:
        """Say what is the matter with a slot: its part is in another one, gone, or not the one that is there."""
        name, now = NAMES[kind], seen.get(place)
        elsewhere = next((slot for slot, other in seen.items() if other.lower() == label.lower()), None)
        slot = f"slot {place} of {self._where()}"
        if elsewhere is not None:
            what, look = f"{name} {label} is in {elsewhere}, and belongs into {place}", f"{slot}, and {elsewhere}"
            return Difference("moved", kind, place, label, now, what, look)
        if now is None:
            what, look = (
                f"{name} {label} of slot {place} is missing",
                f"{slot}: seat it again; if it stays away, replace it",
            )
            return Difference("missing", kind, place, label, None, what, look)
        what = f"another {name} is in slot {place}: {now or 'one without a serial'}, planned {label}{self._from(now)}"
        look = f"{slot}; was it replaced? then coldaisle node replace … --{kind.removesuffix('s')} {place}={now}"
        return Difference("exchanged", kind, place, label, now, what, look)

    def _without_slots(self, kind: str, planned: Labels, seen: Labels) -> Iterator[Difference]:
        """Compare what a BMC names otherwise than the site does: by the label alone."""
        there = {label.lower(): label for label in seen.values() if label}
        wanted = {label.lower() for label in planned.values()}
        for place, label in planned.items():
            if label.lower() not in there:
                name = f"{NAMES[kind]} {place}".rstrip()
                what = f"{name} ({label}) is missing"
                yield Difference("missing", kind, place, label, None, what, self._look(kind, place))
        for label in sorted(there.keys() - wanted):
            yield self._unexpected(kind, "", there[label])

    def _unexpected(self, kind: str, place: str, label: str) -> Difference:
        at = f" in slot {place}" if place else ""
        what = f"{NAMES[kind]} {label or 'without a serial'}{at} is not in the delivery list{self._from(label)}"
        return Difference("unexpected", kind, place, None, label, what, f"{self._where()}, and the delivery list")

    def _from(self, label: str | None) -> str:
        """Say where a part comes from, as far as the site knows."""
        known = (label or "").lower()
        if known in self.owners:
            node, _, place = self.owners[known]
            return f"; it belongs to {node}{f' {place}' if place else ''}"
        gone = self.spec.journal.gone.get(known)
        return f"; it was taken out of {gone.node} on {gone.when} ({gone.why})" if gone else ""

    def _look(self, kind: str, place: str) -> str:
        if kind != "macs":
            return self._where()
        for fabric in self.plan.fabrics.values():
            for cable in fabric.cables:
                for own, far in ((cable.a, cable.b), (cable.b, cable.a)):
                    if (own.device, own.port) == (self.node.name, place):
                        return f"the adapter of {place} in {self._where()}, and its cable to {far.device}:{far.port}"
        return f"the adapter of {place} in {self._where()}"

    def _where(self) -> str:
        return f"{self.node.name} (rack {self.node.rack}, unit {self.node.rack_unit})"
