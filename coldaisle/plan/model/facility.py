"""The facility of a plan: racks, feeds, what is above them, and cooling, each with its ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from coldaisle.plan.model.power import NO_DRAWS, DrawsPlan, FeedPlan, StartGroupPlan, UpstreamPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """One addend of a budget: what draws, how much, and where the number comes from. None is not known, never zero."""

    item: str
    count: int
    each: float | None
    total: float | None
    source: str


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
    psus: int | None = None
    depth_mm: float | None = None
    airflow: str | None = None
    draws: DrawsPlan = NO_DRAWS


@dataclass(frozen=True, slots=True, kw_only=True)
class RackPlan:
    """
    A rack with its devices and its ledgers.

    Of the heat that its devices put into air, a rear door takes `heat_door_w` and the room `heat_room_w`. `blank_u`
    counts the free rack units, each of which needs a blanking panel. `floor_kg_m2` is the weight of rack and devices
    on the floor that carries them.
    """

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
    second_liquid_cooling: str | None = None
    door_cooling: str | None = None
    heat_door_w: float | None = None
    heat_room_w: float | None = None
    blank_u: int = 0
    usable_depth_mm: float | None = None
    max_weight_kg: float | None = None
    floor_kg_m2: float | None = None
    floor_limit_kg_m2: float | None = None
    draws: DrawsPlan = NO_DRAWS
    door_model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoolingPlan:
    """
    A cooling loop or a set of air handlers: what it can remove, and what it must.

    `capacity_after_loss_w` is without its spare units, `capacity_after_one_w` without any one. `load_after_loss_w` is
    the heat that it must take when `lost_loop` is out, a loop that some of its racks are piped to as well; without
    such a loop it is the load. `airflow_cfm` is the air that the racks' devices need, and `supply_airflow_cfm` what
    the units must move, since some of it bypasses the devices. Flows need the temperature rise of the units, and
    their capacities, with the spare units out, the flow of one.
    """

    name: str
    kind: Literal["air", "liquid"]
    capacity_w: float
    capacity_after_loss_w: float
    load_w: float | None
    racks: tuple[str, ...]
    airflow_cfm: float | None = None
    coolant_l_min: float | None = None
    units: int = 1
    redundant: int = 0
    capacity_after_one_w: float = 0.0
    load_after_loss_w: float | None = None
    lost_loop: str | None = None
    other_heat_w: float | None = 0.0
    supply_temp_c: float | None = None
    return_temp_c: float | None = None
    supply_airflow_cfm: float | None = None
    airflow_capacity_cfm: float | None = None
    coolant: str | None = None
    coolant_after_loss_l_min: float | None = None
    coolant_capacity_l_min: float | None = None
    pumps_each: int | None = None
    redundant_pumps: int | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverheadPlan:
    """One part of the power that the site draws beside its IT load, with what was assumed for it."""

    item: str
    power_w: float | None
    assumption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PuePlan:
    """The estimate of the PUE: facility power by IT power. None where a part of it is not known."""

    pue: float | None
    facility_power_w: float | None
    overheads: tuple[OverheadPlan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FacilityPlan:
    """
    Racks, feeds and cooling of a site, with totals in watts.

    `start_order` is None where a start-up draw is not known.
    """

    racks: tuple[RackPlan, ...]
    cooling: tuple[CoolingPlan, ...]
    it_power_w: float | None
    upstream: tuple[UpstreamPlan, ...] = ()
    pue: PuePlan | None = None
    it_draws: DrawsPlan = NO_DRAWS
    start_order: tuple[StartGroupPlan, ...] | None = None
