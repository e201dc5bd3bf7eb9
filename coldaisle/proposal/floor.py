"""
The floor as proposals see it: racks that are alike in one group, and what the checks say of one rack with more in it.

A rack is tried by planning and checking it alone, with the same functions as the whole site: so every rule of power,
cooling and space that a check knows holds for a proposal too, and none is written a second time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from coldaisle.check import Finding
from coldaisle.check.registry import CHECKS
from coldaisle.plan.facility import plan_facility
from coldaisle.plan.model import CoolingPlan, FabricPlan, FacilityPlan, RackPlan, SitePlan
from coldaisle.plan.placement import Placed, placed_devices
from coldaisle.plan.space import units_of
from coldaisle.spec.facility import FacilitySpec, PlacedRack
from coldaisle.spec.node_pools import Place, PoolSpec
from coldaisle.spec.ranges import expand
from coldaisle.spec.sections import SiteSpec

_ELSEWHERE = frozenset(f"coldaisle.check.{name}" for name in ("addressing", "fabric", "nodes", "serving"))
FLOOR_CHECKS = tuple(check for check in CHECKS if check.__module__ not in _ELSEWHERE)
"""Checks of power, cooling and space; what else is found depends on more than the rack."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Racks that count the same for a proposal, by name: alike in the spec, and with the same devices in them."""

    racks: tuple[PlacedRack, ...]
    devices: tuple[Placed, ...]
    pools: frozenset[str]
    """The wanted pools that have nodes there."""

    @property
    def of_others(self) -> bool:
        """Return whether switches or service hosts stand there, and no node: the rack is meant for something else."""
        return bool(self.devices) and not self.has_nodes

    @property
    def has_nodes(self) -> bool:
        """Return whether a node of any pool stands there."""
        return any(device.placement.kind == "node" for device in self.devices)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the racks' names."""
        return tuple(rack.name for rack in self.racks)

    @property
    def free_runs(self) -> tuple[tuple[int, int], ...]:
        """Return lowest unit and length of each row of free rack units, from below."""
        taken = {unit for device in self.devices for unit in units_of(device.placement)}
        runs: list[tuple[int, int]] = []
        for unit in range(1, self.racks[0].spec.height_u + 1):
            if unit in taken:
                continue
            first, length = runs[-1] if runs else (unit, 0)
            if runs and first + length == unit:
                runs[-1] = (first, length + 1)
            else:
                runs.append((unit, 1))
        return tuple(runs)


@dataclass(frozen=True, slots=True)
class Trial:
    """One rack planned and checked by itself, with some new nodes in it."""

    rack: PlacedRack
    devices: tuple[Placed, ...]
    facility: FacilityPlan
    findings: frozenset[Finding]

    @property
    def plan(self) -> RackPlan:
        """Return the rack's ledgers."""
        return self.facility.racks[0]

    @property
    def unknown(self) -> tuple[str, ...]:
        """Return the ledgers of the rack that are not known, other than its weight."""
        plan = self.plan
        feeds = [feed.name for feed in plan.feeds if _unknown(feed.load_w, feed.load_after_loss_w)]
        found = [f"the load of feed {name}" for name in feeds]
        found += ["the heat"] if _unknown(plan.heat_air_w, plan.heat_liquid_w) else []
        return tuple(found)

    @property
    def weightless(self) -> tuple[str, ...]:
        """Return the models whose weight is not known, where the rack has a limit of weight."""
        if self.rack.spec.max_weight_kg is None:
            return ()
        return tuple(sorted({device.model for device in self.plan.devices if device.weight_kg is None}))


def _unknown(*values: float | None) -> bool:
    return any(value is None for value in values)


class Floor:
    """The racks of a site, what stands in them, and trials of more."""

    def __init__(
        self,
        spec: SiteSpec,
        plan: SitePlan,
        fabrics: Mapping[str, FabricPlan],
        *,
        pools: Collection[str] = (),
        within: str | None = None,
    ) -> None:
        """
        Take a site.

        Args:
            spec: The site, whose nodes stay where they are.
            plan: Its plan.
            fabrics: Its fabrics as they will be, with the switches that more nodes need.
            pools: Pools that more nodes are wanted of.
            within: A rack, racks in a range, a row or a hall; None is every rack.
        """
        self.spec, self.plan, self.fabrics = spec, plan, fabrics
        self.devices = placed_devices(spec, fabrics)
        self.cooling = self._cooling_with_switches()
        self._nodes: defaultdict[str, dict[str, dict[str, Place]]] = defaultdict(lambda: defaultdict(dict))
        for node in spec.nodes:
            self._nodes[node.rack][node.pool][node.name] = Place(rack=node.rack, rack_unit=node.rack_unit)
        self._as_is: dict[str, Trial] = {}
        self._here: dict[str, dict[str, FabricPlan]] = {}
        self.racks = spec.racks
        self.alike = self._groups(racks_within(self.racks, within), frozenset(pools))

    def _cooling_with_switches(self) -> tuple[CoolingPlan, ...]:
        """Return the cooling with the heat of the switches that are to come."""
        if _in_racks(self.fabrics) == _in_racks(self.plan.fabrics):
            return self.plan.facility.cooling
        return plan_facility(self.spec, self.fabrics).cooling

    def _groups(self, racks: Iterable[PlacedRack], pools: frozenset[str]) -> tuple[Alike, ...]:
        groups: defaultdict[tuple[object, ...], list[PlacedRack]] = defaultdict(list)
        lines: dict[tuple[str | int, ...], str] = {}
        for rack in racks:
            line = lines.setdefault(rack.path, _figures(rack))
            devices = tuple(_anonymous(device) for device in self.devices.get(rack.name, ()))
            groups[line, repr(devices), pools.intersection(self._nodes[rack.name])].append(rack)
        return tuple(
            Alike(tuple(group), self.devices.get(group[0].name, ()), pools.intersection(self._nodes[group[0].name]))
            for group in groups.values()
        )

    def trial(self, alike: Alike, pool: str, system: str, units: Sequence[int]) -> Trial:
        """Return the first rack of a group with a node of a system at each of some rack units."""
        rack = alike.racks[0]
        spec = self._alone(rack, pool, system, units)
        here = self._fabrics_in(rack)
        facility = plan_facility(spec, here)
        plan = replace(self.plan, facility=facility, fabrics=here, nodes=())
        findings = frozenset(found for check in FLOOR_CHECKS for found in check(spec, plan))
        return Trial(rack, placed_devices(spec, here).get(rack.name, ()), facility, findings)

    def as_is(self, alike: Alike) -> Trial:
        """Return the first rack of a group as it stands."""
        name = alike.racks[0].name
        if name not in self._as_is:
            self._as_is[name] = self.trial(alike, "", "", ())
        return self._as_is[name]

    def _fabrics_in(self, rack: PlacedRack) -> dict[str, FabricPlan]:
        """Return the fabrics with the switches of one rack, and no cable."""
        if rack.name not in self._here:
            self._here[rack.name] = {name: _in_rack(fabric, rack) for name, fabric in self.fabrics.items()}
        return self._here[rack.name]

    def _alone(self, rack: PlacedRack, pool: str, system: str, units: Sequence[int]) -> SiteSpec:
        """Return the site with nothing but one rack, and new nodes in it."""
        pools = {name: self._pool(name, system, nodes) for name, nodes in self._nodes[rack.name].items()}
        new = {f"new-{at}": Place(rack=rack.name, rack_unit=unit) for at, unit in enumerate(units)}
        if new:
            before = self._nodes[rack.name].get(pool, {})
            pools[pool] = self._pool(pool, system, {**before, **new})
        sections = self.spec.sections.model_copy(
            update={"facility": _only(self.spec.facility, rack), "node_pools": pools, "hardware": {}}
        )
        return replace(self.spec, sections=sections)

    def _pool(self, name: str, system: str, nodes: Mapping[str, Place]) -> PoolSpec:
        """Return a pool with other nodes: of the site, or of a system that no pool of the site has."""
        known = self.spec.node_pools.get(name)
        if known is None:
            return PoolSpec.model_construct(system=system, role="training", nodes=dict(nodes))
        return known.model_copy(update={"nodes": dict(nodes), "count": None})


def racks_within(racks: Iterable[PlacedRack], within: str | None) -> tuple[PlacedRack, ...]:
    """Return the racks of a hall, of a row, or of a range of names; all of them where no place is named."""
    names = set(expand(within)) if within else set()
    return tuple(rack for rack in racks if within is None or rack.name in names or within in (rack.row, rack.hall))


def _figures(rack: PlacedRack) -> str:
    """Return everything that a rack's ledgers may depend on, and not its name or its place in the row."""
    spec = rack.spec.model_copy(update={"name": "", "position_m": None})
    return repr(replace(rack, name="", hall="", row="", path=(), index=0, row_offset_m=None, spec=spec))


def _anonymous(device: Placed) -> Placed:
    return replace(device, rack="", placement=replace(device.placement, device=""))


def _in_rack(fabric: FabricPlan, rack: PlacedRack) -> FabricPlan:
    """Return a fabric with the switches of one rack, and no cable."""
    return replace(fabric, cables=(), switches=tuple(switch for switch in fabric.switches if switch.rack == rack.name))


def _in_racks(fabrics: Mapping[str, FabricPlan]) -> set[tuple[str, str | None]]:
    """Return the placed switches of fabrics."""
    return {(switch.name, switch.rack) for fabric in fabrics.values() for switch in fabric.switches if switch.rack}


def _only(facility: FacilitySpec, rack: PlacedRack) -> FacilitySpec:
    """Return a facility with one rack, and all that is above it and cools it."""
    hall_at, row_at = cast("int", rack.path[2]), cast("int", rack.path[4])
    hall = facility.halls[hall_at]
    row = hall.rows[row_at].model_copy(update={"racks": [rack.spec.model_copy(update={"name": rack.name})]})
    here = [device for device in facility.devices if device.rack == rack.name]
    return facility.model_copy(update={"halls": [hall.model_copy(update={"rows": [row]})], "devices": here})
