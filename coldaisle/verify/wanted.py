"""
What the plan says of cables, in the form that a comparison looks things up in.

Devices by any name that a neighbour may know them under, ports by any of theirs, hardware addresses from the delivery
list, and where everything stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from coldaisle.plan.breakout import role_model
from coldaisle.plan.model import CablePlan, End, FabricPlan, SitePlan
from coldaisle.spec import SiteSpec
from coldaisle.spec.catalog import Catalog, System

_SHORT_PORTS = (("ethernet", "et"), ("ethernet", "eth"), ("management", "ma"))
"""Beginnings of port names, and how switches shorten them."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device of the plan: all ports that it has, those of a switch in the order of their numbers."""

    name: str
    is_switch: bool
    ports: tuple[str, ...]
    bmc_ports: frozenset[str] = frozenset()
    rail: int | None = None

    def port(self, told: str) -> str | None:
        """Return the port of a name, in any case and with a shortened beginning; None when there is none."""
        lower = told.lower()
        spelt = {lower} | {full + lower[len(short) :] for full, short in _SHORT_PORTS if lower.startswith(short)}
        return next((port for port in self.ports if port == told), None) or next(
            (port for port in self.ports if port.lower() in spelt), None
        )


@dataclass(frozen=True, slots=True)
class WantedCable:
    """A cable of the plan with its fabric. `speaks_ib` tells that ibnetdiscover sees it, and not LLDP."""

    fabric: str
    plan: CablePlan
    speaks_ib: bool

    @property
    def ends(self) -> tuple[End, End]:
        """Return both ends, the lower one first."""
        return self.plan.a, self.plan.b

    def other(self, end: End) -> End:
        """Return the end that is not this one."""
        return self.plan.b if end == self.plan.a else self.plan.a


@dataclass(frozen=True)
class Wanted:
    """All cables of a plan, with the names, addresses and places of what they join."""

    cables: tuple[WantedCable, ...]
    devices: Mapping[str, Device]
    macs: Mapping[str, End]
    places: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    domain: str = ""
    guids: Mapping[str, End] = field(default_factory=dict)
    """Ends by the GUIDs that the delivery list knows; that of a switch names no port."""

    @cached_property
    def by_end(self) -> dict[End, WantedCable]:
        """Return the cable that is planned at an end."""
        return {end: cable for cable in self.cables for end in cable.ends}

    @cached_property
    def between(self) -> dict[frozenset[str], list[WantedCable]]:
        """Return the cables of each pair of devices."""
        pairs: dict[frozenset[str], list[WantedCable]] = {}
        for cable in self.cables:
            pairs.setdefault(frozenset(end.device for end in cable.ends), []).append(cable)
        return pairs

    @cached_property
    def lldp_switches(self) -> frozenset[str]:
        """Return the switches that speak LLDP: all but those of InfiniBand."""
        mute = {end.device for cable in self.cables if cable.speaks_ib for end in cable.ends}
        return frozenset(name for name, device in self.devices.items() if device.is_switch) - mute

    @cached_property
    def _lower(self) -> dict[str, str]:
        return {name.lower(): name for name in self.devices}

    def named(self, told: str) -> tuple[str, ...]:
        """
        Return the devices that a name may mean: one, or several that it is the shortened name of, or none.

        A whole name wins over everything that begins with it; a domain behind a name does no harm.
        """
        name = told.strip().rstrip(".\N{HORIZONTAL ELLIPSIS}").lower()
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            if found := self._lower.get(".".join(parts[:end])):
                return (found,)
        full = ((f"{lower}.{self.domain}", device) for lower, device in self._lower.items())
        return tuple(sorted(device for long, device in full if name and long.startswith(name)))

    def rail_of(self, end: End) -> int | None:
        """Return the rail that an end belongs to: a leaf's own, or that of a node's cable."""
        device, cable = self.devices.get(end.device), self.by_end.get(end)
        if device and device.is_switch:
            return device.rail
        return cable.plan.rail if cable else None


def wanted(spec: SiteSpec, plan: SitePlan) -> Wanted:
    """
    Return what a plan says of cables; the delivery list and the catalog give addresses and ports.

    Those of retired nodes are not wanted: their machines are off, or gone. One that is seen all the same is told.
    """
    retired = {node.name for node in plan.retired}
    cables = tuple(
        WantedCable(fabric.name, cable, fabric.kind == "infiniband")
        for fabric in plan.fabrics.values()
        for cable in fabric.cables
        if not {cable.a.device, cable.b.device} & retired
    )
    devices = {device.name: device for device in _devices(spec, plan)}
    for name, cabled in _cabled_ports(cables).items():
        # An appliance has the ports that the plan cables, whatever the catalog says of it.
        known = devices.get(name) or Device(name, is_switch=False, ports=())
        devices[name] = replace(known, ports=tuple(dict.fromkeys((*known.ports, *cabled))))
    places = {one.device: (rack.name, one.rack_unit) for rack in plan.facility.racks for one in rack.devices}
    return Wanted(cables, devices, dict(_macs(spec, devices)), places, plan.domain.lower(), dict(_guids(plan)))


def _devices(spec: SiteSpec, plan: SitePlan) -> Iterator[Device]:
    for node in spec.nodes:
        yield _host(node.name, spec.catalog.systems[node.system])
    for device in spec.facility.devices:
        yield _host(device.name, spec.catalog.systems[device.model])
    for fabric in plan.fabrics.values():
        yield from _switches(spec.catalog, spec, fabric)


def _host(name: str, system: System) -> Device:
    return Device(name, is_switch=False, ports=tuple(system.nics), bmc_ports=frozenset(system.nics_of("bmc")))


def _switches(catalog: Catalog, spec: SiteSpec, fabric: FabricPlan) -> Iterator[Device]:
    for switch in fabric.switches:
        model = role_model(catalog, spec.fabrics[fabric.name], switch.role)
        management = (model.management_port,) if model.management_port else ()
        yield Device(switch.name, is_switch=True, ports=(*model.port_names(), *management), rail=switch.rail)


def _cabled_ports(cables: Iterable[WantedCable]) -> dict[str, tuple[str, ...]]:
    ports: dict[str, list[str]] = {}
    for cable in cables:
        for end in cable.ends:
            ports.setdefault(end.device, []).append(end.port)
    return {device: tuple(names) for device, names in ports.items()}


def _guids(plan: SitePlan) -> Iterator[tuple[str, End]]:
    for fabric in plan.fabrics.values():
        for name, guid in fabric.subnet.guids.items() if fabric.subnet else ():
            device, _, port = name.partition(":")
            yield guid, End(device=device, port=port)


def _macs(spec: SiteSpec, devices: Mapping[str, Device]) -> Iterator[tuple[str, End]]:
    for node, hardware in spec.hardware.items():
        for port, mac in hardware.macs.items():
            yield mac, End(device=node, port=port)
        if hardware.bmc_mac and node in devices:
            yield from ((hardware.bmc_mac, End(device=node, port=port)) for port in devices[node].bmc_ports)
