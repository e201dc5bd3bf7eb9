"""The power chain of a plan: feeds with their banks and phases, the parts above them, and the order of a start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawsPlan:
    """
    What is drawn beside the maximum, in watts: usually, for milliseconds above it, and from power-on to self-test.

    None where neither the catalog nor a rule of the site gives a figure that is needed.
    """

    typical_w: float | None = None
    transient_w: float | None = None
    startup_w: float | None = None


NO_DRAWS = DrawsPlan()


@dataclass(frozen=True, slots=True, kw_only=True)
class BankPlan:
    """
    A breaker of a rack's PDU with its outlets: what it may carry, what it carries, and after the worst loss of a feed.

    `supplies` are the power supplies that are plugged in, outlet by outlet. Amperes are None where the phase is not
    known, and a load where a figure that it needs is not.
    """

    name: str
    phase: str | None
    breaker_a: float
    capacity_a: float
    load_w: float | None
    load_a: float | None
    load_after_loss_a: float | None
    outlets: int | None
    supplies: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhasePlan:
    """A conductor of a three-phase feed: amperes that it may carry, carries, and carries after the worst loss."""

    name: str
    capacity_a: float
    load_a: float | None
    load_after_loss_a: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPlan:
    """
    One circuit from a panel to a rack: what it may carry, what it carries, and after the worst loss of other feeds.

    A load is None when a figure that it needs is not known. `banks` and `phase_loads` are empty where the site names no
    banks: then nothing is said of them. `unplugged` are supplies for which no bank has an outlet, and `pdu` is the
    model of the rack PDU on the circuit.
    """

    name: str
    voltage_v: float
    voltage_reference: Literal["line-to-line", "line-to-neutral"]
    phases: Literal[1, 3]
    breaker_a: float
    derating: float
    power_factor: float
    capacity_w: float
    load_w: float | None
    load_after_loss_w: float | None
    upstream: str | None
    draws: DrawsPlan = NO_DRAWS
    banks: tuple[BankPlan, ...] = ()
    phase_loads: tuple[PhasePlan, ...] = ()
    unplugged: tuple[str, ...] = ()
    pdu: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamPlan:
    """
    Utility, UPS, panel …: what it may carry, what hangs below it, and after the worst loss of one beside it.

    `capacity_w` is what it may carry continuously without its spare units. Its parent carries `loss_w` too; that is
    None where the site names no efficiency (losses are then not counted) or the load is not known.
    """

    name: str
    kind: str
    capacity_w: float
    load_w: float | None
    load_after_loss_w: float | None
    fed_by: str | None
    efficiency: float | None = None
    loss_w: float | None = None
    catcher_for: tuple[str, ...] = ()
    worst_loss: str | None = None
    draws: DrawsPlan = NO_DRAWS
    model: str | None = None
    units: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StartGroupPlan:
    """
    Devices that start together after a blackout, when all groups before them draw their maximum.

    `over` are the circuits and parts of the chain that the group overloads whatever was started before.
    """

    devices: tuple[str, ...]
    racks: tuple[str, ...]
    startup_w: float
    running_w: float
    over: tuple[str, ...] = ()
