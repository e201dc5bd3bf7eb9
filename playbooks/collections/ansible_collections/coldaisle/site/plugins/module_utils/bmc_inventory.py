"""What hardware a BMC shows: as much as it tells, and what it does not tell with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError, Inventory, retried
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_boot_options import plain_mac
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_wire import Json, Resource, Wire, path_of

GPU, CPU = "GPU", "CPU"


def read_inventory(wire: Wire, system: str, baseboards: tuple[str, ...] = ()) -> Inventory:
    """
    Return what hardware the BMC shows: of the system, and the processors of baseboards that it shows as systems too.

    Raises:
        BmcError: the system itself cannot be read.

    """
    found = Inventory()
    root = retried(lambda: wire.get(system))
    found.parts["system"] = [_named(root.body, "Manufacturer", "Model", "SerialNumber", "SKU", "BiosVersion", "UUID")]
    processors = list(_members(wire, root.link("Processors"), "processors", found))
    for path in baseboards:
        baseboard = _told(partial(wire.find, path), "gpus", found, path)
        processors += _members(wire, baseboard.link("Processors") if baseboard else None, "gpus", found)
    found.parts["processors"] = [_processor(part.body) for part in processors if _is(part, CPU)]
    found.parts["gpus"] = [_processor(part.body) for part in processors if _is(part, GPU)]
    modules = _members(wire, root.link("Memory"), "memory", found)
    found.parts["memory"] = [_memory(part.body) for part in modules if part.body.get("CapacityMiB")]
    found.parts["ports"] = list(_ports(wire, root, found))
    found.parts["drives"] = list(_drives(wire, root, found))
    for kind in ("processors", "memory", "ports", "drives"):
        if not found.parts[kind]:
            found.gaps.setdefault(kind, "the BMC lists none; some do so until the machine was on once")
    return found


def _members(wire: Wire, path: str | None, kind: str, found: Inventory) -> Iterator[Resource]:
    """Yield the members that can be read; the others are told in the gaps."""
    collection = _told(partial(wire.find, path), kind, found)
    for member in (collection.body.get("Members") or []) if collection else []:
        part = _told(partial(wire.find, path_of(member)), kind, found, path_of(member))
        if part:
            yield part


def _told(call: Callable[[], Resource | None], kind: str, found: Inventory, what: str | None = None) -> Resource | None:
    try:
        part = retried(call)
    except BmcError as error:
        found.gaps[kind] = str(error)
        return None
    if part is None and what:
        found.gaps[kind] = f"the BMC lists {what}, and shows nothing there"
    return part


def _is(part: Resource, kind: str) -> bool:
    """Tell a processor's kind; one that tells none is a CPU."""
    return (part.body.get("ProcessorType") or CPU) == kind


def _named(body: Json, *names: str) -> Json:
    """Return the properties that have a value, trimmed."""
    shown = {name: body.get(name) for name in names}
    return {name: value.strip() if isinstance(value, str) else value for name, value in shown.items() if value}


def _processor(body: Json) -> Json:
    return _named(body, "Id", "Manufacturer", "Model", "SerialNumber", "PartNumber", "TotalCores")


def _memory(body: Json) -> Json:
    return _named(body, "Id", "Manufacturer", "PartNumber", "SerialNumber", "CapacityMiB")


def _ports(wire: Wire, system: Resource, found: Inventory) -> Iterator[Json]:
    """Yield ports with a MAC address; a port without one (some BMCs give "") is a gap, not a port."""
    for port in _members(wire, system.link("EthernetInterfaces"), "ports", found):
        mac: Any = port.body.get("MACAddress") or port.body.get("PermanentMACAddress")
        if mac:
            yield {"Id": port.body.get("Id"), "mac": plain_mac(str(mac))}
        else:
            found.gaps["ports"] = f"{port.path} has no MAC address"


def _drives(wire: Wire, system: Resource, found: Inventory) -> Iterator[Json]:
    for storage in _members(wire, system.link("Storage"), "drives", found):
        for link in storage.body.get("Drives") or []:
            drive = _told(partial(wire.find, path_of(link)), "drives", found, path_of(link))
            if drive:
                yield _named(drive.body, "Id", "Manufacturer", "Model", "SerialNumber", "CapacityBytes", "MediaType")
