"""The kinds of machines that a hall can have, by name."""

from __future__ import annotations

from sim.errors import SimError
from sim.machines import KINDS, Kind

HALL_KINDS: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind != "guest")
"""A guest boots over the network, and a hall has nobody who would serve it: `coldaisle sim up` has."""


def hall_kind(name: str) -> Kind:
    """Return the kind of a name; SimError lists those that there are."""
    for kind in HALL_KINDS:
        if kind == name:
            return kind
    raise SimError("hall", f"there is no kind {name}", f"kinds: {', '.join(HALL_KINDS)}", "choose one of them")
