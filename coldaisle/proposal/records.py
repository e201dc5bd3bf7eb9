"""What a proposal is made of: what is wanted, where it goes, and what stops the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coldaisle.check import Finding

NO_SPACE = "no-space"
"""Id of the limit that no row of free rack units is long enough."""
UNKNOWN = "unknown-figure"
"""Id of the limit that a figure is not known, so that nobody can tell whether more fits."""


@dataclass(frozen=True, slots=True)
class Want:
    """Nodes that have no place yet: how many of a pool, and of which system."""

    pool: str
    system: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """
    What stops one more node.

    `check` is the id of the check that would find it, `racks` those that it holds for, `what` and `fix` the words of
    the check. A limit that is `unknown` is a figure that nobody knows, and not one that is passed.
    """

    check: str
    what: str
    fix: str
    racks: tuple[str, ...]
    unknown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxation:
    """What one limit costs: how many nodes would fit if it alone were gone."""

    check: str
    what: str
    fits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNode:
    """A node of a proposal with its place."""

    name: str
    pool: str
    rack: str
    rack_unit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """
    Where the wanted nodes go, and what limits them.

    `nodes` is empty when they do not all fit; `fits` then says how many of each pool would. `findings` are what the
    checks find with the nodes in their places and not without: none of them is an error of power, cooling or space.
    `lines` are the lines of the spec for each pool, and `unsure` says what could not be judged, as a weight that the
    catalog does not have: `coldaisle check` warns of it too.
    """

    wants: tuple[Want, ...]
    fits: Mapping[str, int]
    nodes: tuple[NewNode, ...]
    lines: Mapping[str, Mapping[str, Mapping[str, object]]]
    unsure: tuple[str, ...]
    limits: tuple[Limit, ...]
    relaxations: tuple[Relaxation, ...]
    findings: tuple[Finding, ...]

    @property
    def complete(self) -> bool:
        """Return whether every wanted node has a place."""
        return all(self.fits[want.pool] == want.count for want in self.wants)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """
    How many more of a system a hall can take; None where a figure is not known, so that nobody can tell.

    `unsure` says what could not be judged of the places that were counted.
    """

    system: str
    more: int | None
    unsure: tuple[str, ...]
    limits: tuple[Limit, ...]
