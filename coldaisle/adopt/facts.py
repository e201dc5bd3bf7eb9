"""
What sources tell of a site, in one form: a fact is a field of a thing, with its source and its place there.

Readers only tell. Which of two sources is right is said in `merge`, and what a spec makes of it in `sections`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from coldaisle.spec.problem import Problem

Source = Literal["redfish", "ssh", "lldp", "kubernetes", "maas", "netbox", "kayobe", "deepops"]
SOURCES: tuple[Source, ...] = ("redfish", "ssh", "lldp", "kubernetes", "maas", "netbox", "kayobe", "deepops")

Confidence = Literal["read", "recorded"]
"""Whether the thing itself told it, or somebody wrote it down once."""

CONFIDENCE: Mapping[Source, Confidence] = {
    "redfish": "read",
    "ssh": "read",
    "lldp": "read",
    "kubernetes": "read",
    "maas": "read",
    "netbox": "recorded",
    "kayobe": "recorded",
    "deepops": "recorded",
}

Kind = Literal["site", "rack", "feed", "panel", "device", "port", "bmc", "network", "subnet"]
Value = str | int | float | tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """
    A thing that facts are about.

    Ports are named `device:port` and feeds `rack:feed`. A `bmc` is one that has not told whose it is yet, by its
    address. A `network` is named by what it is for (bmc, management, switches), a `subnet` by its prefix.
    """

    kind: Kind
    name: str

    @property
    def text(self) -> str:
        """Name the thing in words."""
        return f"{self.kind} {self.name}" if self.name else self.kind


@dataclass(frozen=True, slots=True)
class Fact:
    """What one source says of one field. `where` is the place in the source, for a person to look at."""

    subject: Subject
    field: str
    value: Value
    source: Source
    where: str

    @property
    def confidence(self) -> Confidence:
        """Tell how the source knows it."""
        return CONFIDENCE[self.source]


@dataclass(frozen=True, slots=True, order=True)
class PortRef:
    """One end of a cable as a source names it."""

    device: str
    port: str

    @property
    def text(self) -> str:
        """Write it as facts name ports."""
        return f"{self.device}:{self.port}"


@dataclass(frozen=True, slots=True)
class Link:
    """A cable as one source tells of it, the lower end first; `length_m` is None where the source does not know."""

    a: PortRef
    b: PortRef
    source: Source
    where: str
    length_m: float | None = None

    @property
    def ends(self) -> tuple[PortRef, PortRef]:
        """Return both ends in order."""
        return (self.a, self.b) if self.a <= self.b else (self.b, self.a)


@dataclass(frozen=True, slots=True)
class Untold:
    """
    What somebody who was asked did not tell, and why.

    `who` is named by the address that was asked. With `silent` it told nothing at all, so that the site may have a
    machine more than is known; else it is `what` that is missing.
    """

    source: Source
    who: str
    what: str
    why: str
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """
    All that was read: facts, cables, what was wrong with the sources, and what was passed over with its reason.

    `untold` is what those did not tell who were asked live.
    """

    facts: tuple[Fact, ...] = ()
    links: tuple[Link, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    untold: tuple[Untold, ...] = ()


def joined(readings: Iterable[Reading]) -> Reading:
    """Return several readings as one."""
    all_of = tuple(readings)
    return Reading(
        facts=tuple(fact for reading in all_of for fact in reading.facts),
        links=tuple(link for reading in all_of for link in reading.links),
        problems=tuple(problem for reading in all_of for problem in reading.problems),
        notes=tuple(note for reading in all_of for note in reading.notes),
        untold=tuple(each for reading in all_of for each in reading.untold),
    )


@dataclass
class Collector:
    """What a reader fills: a value that is absent makes no fact."""

    source: Source
    facts: list[Fact] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    untold: list[Untold] = field(default_factory=list)

    def add(self, kind: Kind, name: str, where: str, /, **values: Value | None) -> None:
        """Keep the fields of a thing that have a value."""
        subject = Subject(kind, name)
        self.facts += [
            Fact(subject, key, value, self.source, where)
            for key, value in values.items()
            if value is not None and value not in {"", ()}
        ]

    def unreadable(self, where: str, what: str, fix: str, have: str = "") -> None:
        """Tell that a part of the source cannot be used."""
        self.problems.append(
            Problem(check="adopt-unreadable", where=where, path=self.source, what=what, have=have, fix=fix)
        )

    def reading(self) -> Reading:
        """Return what was kept."""
        facts, links, problems = tuple(self.facts), tuple(self.links), tuple(self.problems)
        return Reading(facts, links, problems, tuple(self.notes), tuple(self.untold))
