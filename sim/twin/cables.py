"""Which ports are joined: the plan's cables, less one that is pulled, or with two whose plugs are exchanged. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coldaisle.plan.model import CablePlan, End
from sim.errors import SimError

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Mistakes:
    """What is done to the cables before the twin starts; cables are named by one of their ends, `device:port`."""

    pulled: tuple[str, ...] = ()
    swapped: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return every name that is used."""
        return (*self.pulled, *(name for pair in self.swapped for name in pair))


@dataclass(frozen=True, slots=True)
class Joint:
    """Two ports that a cable joins."""

    a: End
    b: End


def joints(cables: Sequence[CablePlan], mistakes: Mistakes) -> tuple[Joint, ...]:
    """
    Return what is joined. Of two swapped cables, the plugs at the upper ends are exchanged.

    Raises:
        SimError: a name fits no cable that runs, or one cable is named twice.
    """
    named = {name: find_cable(cables, name) for name in mistakes.names}
    if len(set(named.values())) < len(mistakes.names):
        have = ", ".join(mistakes.names)
        raise SimError("cables", "one cable is named twice", have, "name each cable once, by either of its ends")
    upper = {cable: cable.b for cable in cables}
    for one, two in mistakes.swapped:
        upper[named[one]], upper[named[two]] = named[two].b, named[one].b
    pulled = {named[name] for name in mistakes.pulled}
    return tuple(Joint(cable.a, upper[cable]) for cable in cables if cable not in pulled)


def find_cable(cables: Iterable[CablePlan], name: str) -> CablePlan:
    """
    Return the cable with an end of a name, `device:port`.

    Raises:
        SimError: there is none; it names cables of the same device.
    """
    device, _, port = name.partition(":")
    near = []
    for cable in cables:
        for end in (cable.a, cable.b):
            if (end.device, end.port) == (device, port):
                return cable
            if end.device == device:
                near.append(f"{end.device}:{end.port}")
    some = ", ".join(near[:SHOWN]) + (", …" if len(near) > SHOWN else "")
    have = f"{device} has {some}" if near else f"no cable of {device} runs; an absent host has none"
    raise SimError(f"cable {name}", "no cable that runs has this end", have, "write DEVICE:PORT of either end")
