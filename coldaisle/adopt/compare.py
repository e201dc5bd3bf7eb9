"""
A spec's nodes and fabrics against what its sources say: what the plan would change, and what it does not have.

Only what a source says is compared, and of that only what a plan owns. The comparison of a spec that is being written
and that of a spec that has been there for years are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coldaisle.adopt.estate import Device, Estate
from coldaisle.adopt.facts import PortRef, Value
from coldaisle.adopt.merge import Known, shown
from coldaisle.plan.fabric import plan_fabrics
from coldaisle.plan.model import CablePlan, FabricPlan, NodePlan, SwitchPlan
from coldaisle.plan.nodes import plan_nodes
from coldaisle.spec.sections import SiteSpec


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """A field whose planned value is not what sources say; either is empty where only one side has the thing."""

    thing: str
    field: str
    planned: str
    seen: str
    sources: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Say it in words."""
        if not self.seen:
            return f"{self.thing} {self.field}: planned {self.planned}, and no source has it".replace("  ", " ")
        by = ", ".join(self.sources)
        planned = f"planned {self.planned}" if self.planned else "not planned"
        return f"{self.thing} {self.field}: {planned}, {by} says {self.seen}"

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {"thing": self.thing, "field": self.field, "planned": self.planned, "seen": self.seen,
                "sources": list(self.sources)}  # fmt: skip


def differences(spec: SiteSpec, estate: Estate) -> tuple[Difference, ...]:
    """Return every difference between the plan of a spec and what its sources say, sorted."""
    fabrics = plan_fabrics(spec)
    nodes = plan_nodes(spec, fabrics)
    found = [
        *_nodes(nodes, estate),
        *_switches(fabrics.values(), estate),
        *_devices(spec, estate),
        *_cables(fabrics.values(), estate),
    ]
    return tuple(sorted(set(found)))


# -- nodes --------------------------------------------------------------------------------------------------------
def _nodes(nodes: Iterable[NodePlan], estate: Estate) -> Iterator[Difference]:
    planned = {node.name: node for node in nodes}
    seen = estate.of("node")
    yield from _absent("node", planned, seen, estate)
    for name in seen.keys() - planned.keys():
        yield Difference(f"node {name}", "", "", "it is there", _sources(seen[name]))
    for name in planned.keys() & seen.keys():
        yield from _node(planned[name], seen[name], estate)


def _absent(
    kind: str, planned: Mapping[str, object], seen: Mapping[str, Device], estate: Estate
) -> Iterator[Difference]:
    """Yield planned things that no source has, where one knows things of that kind: a cluster knows no switches."""
    missing = planned.keys() - estate.devices.keys() if seen else set()
    yield from (Difference(f"{kind} {name}", "", "yes", "") for name in missing)


def _sources(device: Device) -> tuple[str, ...]:
    return tuple(sorted({source for known in device.fields.values() for source in known.sources}))


def _node(node: NodePlan, device: Device, estate: Estate) -> Iterator[Difference]:
    thing = f"node {node.name}"
    wanted: dict[str, Value | None] = {
        "rack": node.rack,
        "rack_unit": node.rack_unit,
        "management_address": node.management_address,
        "architecture": node.architecture,
        "firmware": node.firmware,
        "taints": tuple(sorted(node.taints)) or ("none",),
    }
    if node.bmc:
        wanted |= {"bmc_address": node.bmc.address, "bmc_mac": node.bmc.mac, "bmc_protocol": node.bmc.protocol}
    yield from _fields(thing, wanted, device.fields)
    if device.entry and device.entry != node.system:
        yield Difference(thing, "system", node.system, device.entry, device.fields["model"].sources)
    labels = {key.removeprefix("label "): known for key, known in device.fields.items() if key.startswith("label ")}
    if labels:
        yield from _fields(f"{thing} label", {**node.labels}, labels, missing=True)
    for nic in node.nics:
        port = estate.ports.get(PortRef(node.name, nic.name), {})
        yield from _fields(f"port {node.name}:{nic.name}", {"mac": nic.mac, "address": nic.address}, port)


def _fields(
    thing: str, planned: Mapping[str, Value | None], seen: Mapping[str, Known], *, missing: bool = False
) -> Iterator[Difference]:
    """Yield fields that differ; with `missing`, also planned ones that a source would have and does not."""
    for field, value in planned.items():
        known = seen.get(field)
        if known is None:
            if missing and value is not None:
                yield Difference(thing, field, shown(value), "")
        elif value is None or str(known.value).lower() != str(value).lower():
            yield Difference(thing, field, "" if value is None else shown(value), shown(known.value), known.sources)


# -- switches and devices -----------------------------------------------------------------------------------------
def _switches(fabrics: Iterable[FabricPlan], estate: Estate) -> Iterator[Difference]:
    planned = {switch.name: switch for fabric in fabrics for switch in fabric.switches}
    seen = estate.of("switch")
    yield from _absent("switch", planned, seen, estate)
    for name in seen.keys() - planned.keys():
        yield Difference(f"switch {name}", "", "", "it is there", _sources(seen[name]))
    for name in planned.keys() & seen.keys():
        yield from _switch(planned[name], seen[name])


def _switch(switch: SwitchPlan, device: Device) -> Iterator[Difference]:
    wanted: dict[str, Value | None] = {
        "rack": switch.rack,
        "rack_unit": switch.rack_unit,
        "management_address": switch.management_address,
        "asn": switch.asn,
        "loopback": switch.loopback,
    }
    yield from _fields(f"switch {switch.name}", wanted, device.fields)
    if device.entry != switch.model:
        yield Difference(f"switch {switch.name}", "model", switch.model, device.entry, device.fields["model"].sources)


def _devices(spec: SiteSpec, estate: Estate) -> Iterator[Difference]:
    planned = {device.name: device for device in spec.facility.devices}
    for name, device in estate.of("device").items():
        if name not in planned:
            yield Difference(f"device {name}", "", "", "it is there", _sources(device))
            continue
        place: dict[str, Value | None] = {"rack": planned[name].rack, "rack_unit": planned[name].rack_unit}
        yield from _fields(f"device {name}", place, device.fields)


# -- cables -------------------------------------------------------------------------------------------------------
def _cables(fabrics: Iterable[FabricPlan], estate: Estate) -> Iterator[Difference]:
    """Yield cables that only the plan has, those that only a source has, and addresses of switches' ends."""
    planned: dict[PortRef, PortRef] = {}
    switches = estate.of("switch")
    for cable in (cable for fabric in fabrics for cable in fabric.cables):
        one, other = PortRef(cable.a.device, cable.a.port), PortRef(cable.b.device, cable.b.port)
        planned |= {one: other, other: one}
        yield from _ends(cable, estate, switches)
    seen = {end: cable for cable in estate.merged.cables for end in cable.ends}
    ours = {end.device for end in planned} | switches.keys()
    for cable_seen in estate.merged.cables:
        one, other = cable_seen.ends
        if planned.get(one) != other and {one.device, other.device} & ours:
            here = planned.get(one)
            yield Difference(f"port {one.text}", "cable", f"to {here.text}" if here else "", f"to {other.text}",
                             cable_seen.sources)  # fmt: skip
    if estate.merged.cables:
        for one, other in planned.items():
            if one < other and one not in seen and other not in seen:
                yield Difference(f"port {one.text}", "cable", f"to {other.text}", "")


def _ends(cable: CablePlan, estate: Estate, switches: Mapping[str, Device]) -> Iterator[Difference]:
    for end, address in ((cable.a, cable.a_address), (cable.b, cable.b_address)):
        known = estate.ports.get(PortRef(end.device, end.port), {})
        switch = switches.get(end.device)
        # A management port's address is the switch's own, which is compared with it.
        if switch and estate.catalog.switches[switch.entry].management_port != end.port:
            yield from _fields(f"port {end.device}:{end.port}", {"address": address}, known)
