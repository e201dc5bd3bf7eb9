"""The facility of a plan: racks, feeds, what is above them, and cooling, each with its ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """One addend of a budget: what draws, how much, and where the number comes from. None is not known, never zero."""

    item: str
    count: int
    each: float | None
    total: float | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPlan:
    """
    One circuit from a panel to a rack: what it may carry, what it carries, and after the worst loss of other feeds.

    A load is None when a figure that it needs is not known.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamPlan:
    """Utility, UPS, panel …: what it may carry, what hangs below it, and after the worst loss of one beside it."""

    name: str
    kind: str
    capacity_w: float
    load_w: float | None
    load_after_loss_w: float | None
    fed_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePlacement:
    """A device in a rack: the lowest rack unit that it takes, and its height."""

    device: str
    model: str
    kind: Literal["node", "switch", "service"]
    rack_unit: int
    height_u: int
    max_power_w: float | None
    weight_kg: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RackPlan:
    """A rack with its devices and its ledgers."""

    name: str
    hall: str
    row: str
    height_u: int
    used_u: int
    devices: tuple[DevicePlacement, ...]
    feeds: tuple[FeedPlan, ...]
    power_w: float | None
    power_lines: tuple[LedgerLine, ...]
    heat_air_w: float | None
    heat_liquid_w: float | None
    airflow_cfm: float | None
    cooling: str | None
    weight_kg: float | None
    liquid_cooling: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoolingPlan:
    """
    A cooling loop or a set of air handlers: what it can remove, in full and without its spare units, and what it must.

    `airflow_cfm` (cubic feet a minute) and `coolant_l_min` need the temperature rise of the unit.
    """

    name: str
    kind: Literal["air", "liquid"]
    capacity_w: float
    capacity_after_loss_w: float
    load_w: float | None
    racks: tuple[str, ...]
    airflow_cfm: float | None = None
    coolant_l_min: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FacilityPlan:
    """Racks, feeds and cooling of a site, with totals in watts."""

    racks: tuple[RackPlan, ...]
    cooling: tuple[CoolingPlan, ...]
    it_power_w: float | None
    upstream: tuple[UpstreamPlan, ...] = ()
