"""
Parts that were replaced (RMA): what the delivery list has to say now, and what the journal remembers. Pure.

Names and addresses follow from the node, so a new serial or MAC address changes nothing of them. What leaves is
remembered: it may come back mended, but only by a person's word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from coldaisle.life.hardware import NAMES, labels_of, owners
from coldaisle.life.journal import LifeError
from coldaisle.spec import SiteSpec
from coldaisle.spec.hardware import NodeHardware
from coldaisle.spec.journal import GONE, TAKEN_BACK

Place = tuple[str, str]
"""Kind and place of a part, as the delivery list has them: ("gpus", "GPU_SXM_4"), ("serial", "")."""

CAME = "came"

MACHINE: frozenset[str] = frozenset({"serial", "uuid"})
"""Kinds of parts that are the machine itself: with another one comes another disk, and its host key."""

ANEW: frozenset[str] = MACHINE | {"bmc_mac", "macs"}
"""
Kinds of parts that plays know a machine and its ports by. Where one is new, the node begins at its inspection: it has
to be set up before it can be accepted, and no play touches a node in repair.
"""


@dataclass(frozen=True, slots=True)
class Replacement:
    """One part that is another one now. `old` is None where the list did not name it before."""

    kind: str
    place: str
    old: str | None
    new: str

    @property
    def path(self) -> tuple[str, ...]:
        """Return where the part stands below its node in the delivery list."""
        return (self.kind, self.place) if self.place else (self.kind,)

    @property
    def text(self) -> str:
        """Return the replacement in words."""
        names = {**NAMES, "bmc_mac": "BMC", "uuid": "UUID"}
        name = " ".join(filter(None, (names[self.kind], self.place)))
        return f"{name}: {self.old or 'not known'} -> {self.new}"


def replacements(spec: SiteSpec, node: str, wanted: Mapping[Place, str], *, take_back: bool) -> tuple[Replacement, ...]:
    """
    Return what replacing some parts of a node changes.

    Args:
        spec: The site.
        node: The node.
        wanted: The new serial or MAC address of each part.
        take_back: Whether parts that have left a node before may come back.

    Raises:
        LifeError: with every part that cannot be: it is another node's, has left one, or is the one that is there.

    """
    hardware = spec.hardware.get(node, NodeHardware())
    now = {(kind, place): label for kind, place, label in labels_of(hardware)}
    known, gone = owners(spec), {} if take_back else spec.journal.gone
    found = [Replacement(kind, place, now.get((kind, place)), new) for (kind, place), new in wanted.items()]
    leaving = {str(one.old).lower() for one in found if one.old}
    problems = []
    for one in found:
        label = one.new.lower()
        if one.old and label == one.old.lower():
            problems.append(f"{one.text.partition(':')[0]} has {one.new} already")
        elif label in known and label not in leaving:
            owner, _, place = known[label]
            problems.append(f"{one.new} is {' '.join(filter(None, (owner, place)))}'s; replace that part first")
        elif label in gone:
            step = gone[label]
            problems.append(
                f"{one.new} has left {step.node} at {step.when}: {step.who} ({step.why}); --take-back if it was mended"
            )
    if problems:
        raise LifeError("\n".join(problems))
    return tuple(found)


def details(found: Iterable[Replacement], *, take_back: bool) -> dict[str, Any]:
    """Return what the journal remembers of some replacements."""
    parts = tuple(found)
    gone = {".".join(one.path): one.old for one in parts if one.old}
    came = {".".join(one.path): one.new for one in parts}
    return {GONE: gone, CAME: came} | ({TAKEN_BACK: list(came.values())} if take_back else {})
