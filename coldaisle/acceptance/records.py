"""
What acceptance is about, as frozen data: steps to run, what tools said, and what it means.

A step is part of a plan: which test on which host, with which words and limits. It travels to the host as JSON, and the
tool's output comes back; nothing after it makes a choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from coldaisle.spec.acceptance import Domain, Phase

DOMAINS: tuple[Domain, ...] = get_args(Domain)
"""Failure domains in the order in which they are tested."""

PHASES: tuple[Phase, ...] = get_args(Phase)
"""Phases, the shortest first."""

Kind = Literal["gpu", "nic", "cable", "disk", "dimm", "node"]
Status = Literal["passed", "failed", "measured", "could-not-tell"]
STATUSES: tuple[Status, ...] = ("failed", "could-not-tell", "measured", "passed")
"""Worst first. `measured` is a figure that nothing says a limit for: it is kept, and not judged."""


class CannotTellError(ValueError):
    """What a tool printed is not known, or not whole: it says neither that a part is good nor that it is bad."""


@dataclass(frozen=True, slots=True)
class Where:
    """A part as the tool names it: a GPU by its index, an adapter by its RDMA device or port, a DIMM by its label."""

    kind: Kind
    name: str


@dataclass(frozen=True, slots=True)
class Measured:
    """One figure that a tool measured; the metric's name carries its unit."""

    metric: str
    value: float
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that a tool found to be wrong, in words, and the part that it is about."""

    what: str
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What one output says. `facts` are serials and slots of parts, as `gpu.5.serial`."""

    measured: tuple[Measured, ...] = ()
    faults: tuple[Fault, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """
    What a figure must reach (`floor`) or may reach (`ceiling`).

    `value` is None where neither the catalog nor the site gives one; it is never taken for 0. `source` is the document
    that the value stands in.
    """

    metric: str
    kind: Literal["floor", "ceiling"]
    value: float | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """
    One test on one host, or one that a host leads.

    `hosts` are all that take part, the leading one first. `round` numbers the rounds of the fabric, in which a host is
    in one test at a time; 0 is what a host does by itself. `serve` is what the second host runs meanwhile. `expects` is
    what the plan says of the parts: how many GPUs, which ports, which neighbours.
    """

    id: str
    test: str
    domain: Domain
    hosts: tuple[str, ...]
    argv: tuple[str, ...]
    parser: str
    timeout_s: int
    takes_s: int = 0
    limits: tuple[Limit, ...] = ()
    expects: Mapping[str, Any] = field(default_factory=dict)
    serve: tuple[str, ...] = ()
    port: int | None = None
    rail: str | None = None
    round: int = 0

    @property
    def host(self) -> str:
        """The host that runs it."""
        return self.hosts[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """
    What a step's tool printed. `status` is its exit status, None where it did not run or did not end: `why` says so.

    `whole` is false where the text was longer than is kept.
    """

    id: str
    text: str
    status: int | None
    seconds: float = 0.0
    why: str = ""
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The part to look at or to replace, as a person finds it: name, serial and slot where they are known."""

    kind: Kind
    name: str
    serial: str | None = None
    slot: str | None = None

    def text(self) -> str:
        """Return it as one phrase."""
        more = [f"serial {self.serial}"] if self.serial else []
        more += [f"slot {self.slot}"] if self.slot else []
        return ", ".join([self.name, *more])


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a step did not pass, and the part that it is about, where the tool tells."""

    what: str
    part: Part | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A step, judged. `measured` holds every figure, also of a step that passed."""

    step: Step
    status: Status
    reasons: tuple[Reason, ...] = ()
    measured: tuple[Measured, ...] = ()
    seconds: float = 0.0
