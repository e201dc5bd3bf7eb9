"""
Which step may follow which: the whole life of a node as one table.

    enroll -> inspect -> verify -> provision -> accept -> in-service
    in-service <-> maintenance, in-service -> repair -> inspect or accept
    all -> retired -> enroll, by a person's word

Nothing here knows a file, a clock or a machine. The words are those of OpenStack Ironic's states where it has one; what
Ironic calls active is in-service here, since a node of a cluster serves others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from coldaisle.spec.journal import State

STATES: tuple[State, ...] = get_args(State)

MEANING: Mapping[State, str] = {
    "enroll": "known to the plan; nobody has looked at the machine yet",
    "inspect": "its hardware is being compared with the plan",
    "verify": "its hardware is the planned one; its cables are being compared",
    "provision": "hardware and cables are as planned; plays may set it up",
    "accept": "set up; it has to prove itself before work may come",
    "in-service": "it takes work",
    "maintenance": "a person works on it for a while: no play touches it, and no drift of it counts",
    "repair": "something of it is broken: no play touches it, and it has to be accepted anew",
    "retired": "gone for good: in no play, off, and kept from coming back by itself",
}

NEXT: Mapping[State | None, frozenset[State]] = {
    None: frozenset({"enroll", "maintenance", "repair"}),
    "enroll": frozenset({"inspect", "retired"}),
    "inspect": frozenset({"inspect", "verify", "repair", "retired"}),
    "verify": frozenset({"verify", "inspect", "provision", "repair", "retired"}),
    "provision": frozenset({"inspect", "accept", "repair", "retired"}),
    "accept": frozenset({"accept", "in-service", "repair", "retired"}),
    "in-service": frozenset({"maintenance", "repair"}),
    "maintenance": frozenset({"maintenance", "in-service", "inspect", "accept", "repair", "retired"}),
    "repair": frozenset({"repair", "inspect", "accept", "retired"}),
    "retired": frozenset({"enroll"}),
}
"""
The steps that there are. None is a node that no journal knows: it takes work already, as every node did before there
was one. A node in service is taken out (and drained) before it is retired. What has been new or broken comes into
service by acceptance only, so maintenance, which leads straight back, begins in service only.
"""

OWNED: frozenset[State] = frozenset({"inspect", "accept", "maintenance", "repair"})
"""States in which somebody is at work: another person's step from there is refused, unless it is taken over."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a step is not taken, and what to do instead."""

    why: str
    fix: str


def refusal(was: State | None, to: State) -> Refused | None:
    """Return why a node in a state may not go to another; None where it may."""
    if to in NEXT[was]:
        return None
    here = f"in {was}" if was else "in no journal yet"
    open_to = ", ".join(state for state in STATES if state in NEXT[was])
    return Refused(f"a node that is {here} does not go to {to}", f"from there it goes to {open_to}")
