"""
The site as its sources know it, in the catalog's words: which things are nodes, switches and other devices.

A server is a node where a source that deals in nodes says so (a cluster, MAAS, an inventory's groups), or its role in
NetBox has a word for it; any other is a device that the spec only places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from coldaisle.adopt.facts import PortRef, Value
from coldaisle.adopt.merge import Known, Merged
from coldaisle.adopt.models import Match, match
from coldaisle.spec.catalog import Catalog

DeviceKind = Literal["node", "switch", "device"]
NODE_WORDS = frozenset({"node", "gpu", "compute", "worker", "hypervisor"})
"""Words of a NetBox role that make a server a node."""
SWITCH_WORDS = frozenset({"leaf", "spine", "core", "tor", "switch", "router", "firewall"})
"""Words that make it none, whatever else it says: a compute leaf is a switch."""
NO_SYSTEM = frozenset({"pdu", "rack-pdu", "patch-panel", "console-server", "ups", "cable-management"})
"""Roles of things in a rack that a spec says elsewhere, or not at all."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device with its kind, its entry of the catalog (empty where its model fits none), and what is known of it."""

    name: str
    kind: DeviceKind
    entry: str
    match: Match
    fields: Mapping[str, Known]

    def value(self, field: str) -> Value | None:
        """Return one field's value."""
        known = self.fields.get(field)
        return known.value if known else None


@dataclass(frozen=True)
class Estate:
    """What is known, with the catalog that its models are looked up in."""

    merged: Merged
    catalog: Catalog

    @cached_property
    def devices(self) -> dict[str, Device]:
        """Return every device that a spec can name, by name."""
        return {device.name: device for device in self._devices()}

    def _devices(self) -> Iterator[Device]:
        for name, fields in self.merged.of("device").items():
            role = fields.get("role")
            if role is None or str(role.value) not in NO_SYSTEM:
                yield self._device(name, fields)

    def _device(self, name: str, fields: Mapping[str, Known]) -> Device:
        gpu, model = fields.get("gpu_product"), fields.get("model")
        found = match(self.catalog, str(model.value), str(gpu.value) if gpu else None) if model else Match()
        if found.kind == "switches":
            return Device(name, "switch", found.entry, found, fields)
        system = self.catalog.systems.get(found.entry)
        kind = _kind(fields) if system is None or system.is_server else "device"
        return Device(name, kind, found.entry, found, fields)

    def of(self, kind: DeviceKind) -> dict[str, Device]:
        """Return the devices of a kind, by name."""
        return {name: device for name, device in self.devices.items() if device.kind == kind}

    @cached_property
    def ports(self) -> dict[PortRef, Mapping[str, Known]]:
        """Return what is known of each port."""
        found = {}
        for name, fields in self.merged.of("port").items():
            device, _, port = name.partition(":")
            found[PortRef(device, port)] = fields
        return found

    @cached_property
    def ports_of(self) -> dict[str, dict[str, Mapping[str, Known]]]:
        """Return what is known of each device's ports."""
        found: dict[str, dict[str, Mapping[str, Known]]] = {}
        for ref, fields in self.ports.items():
            found.setdefault(ref.device, {})[ref.port] = fields
        return found

    def port_value(self, ref: PortRef, field: str) -> Value | None:
        """Return one field of a port."""
        known = self.ports.get(ref, {}).get(field)
        return known.value if known else None


def _kind(fields: Mapping[str, Known]) -> DeviceKind:
    said = fields.get("kind")
    if said is not None:
        return "node" if said.value == "node" else "device"
    role = fields.get("role")
    words = set(str(role.value).lower().replace("_", "-").split("-")) if role else set()
    return "node" if words & NODE_WORDS and not words & SWITCH_WORDS else "device"
