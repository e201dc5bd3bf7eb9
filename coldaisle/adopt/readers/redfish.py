"""
BMCs as Redfish tells of them: asked live, as trees in the form of DMTF's mockups, or found by `coldaisle bmc discover`.

A tree is a folder a BMC, named by its address, with an `index.json` for each resource below `redfish/v1`. A BMC seldom
knows the name of its host: whose it is follows from its serial, its address or a MAC that another source knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from coldaisle.adopt.facts import Collector, Reading, Untold, Value
from coldaisle.adopt.readers.parsing import Json, address_of, at, json_of, mac_of, maps, text_of

ROOT = "redfish/v1"
NO_SERIAL = frozenset({"", "none", "n/a", "not specified", "to be filled by o.e.m.", "0", "default string"})
"""What firmware says in place of a serial that nobody has set."""


def read(files: Mapping[str, str]) -> Reading:
    """Return what the BMCs tell; files are by their path, whose folder above `redfish` names the BMC."""
    into = Collector("redfish")
    trees: dict[str, dict[str, str]] = {}
    for path, text in files.items():
        before, mark, after = path.partition(f"{ROOT}/")
        if mark and after.endswith("index.json"):
            trees.setdefault(before.strip("/"), {})[str(PurePosixPath(after).parent)] = text
        elif path.endswith(".json") and not mark:
            value = json_of(text, path, into)
            _whole(value, path, into)
            _discovered(value, path, into)
    for name, tree in sorted(trees.items()):
        _tree(PurePosixPath(name).name, name, tree, into)
    if not into.facts and not into.problems:
        where = ", ".join(sorted(files)[:3]) or "redfish"
        what = "there is no tree with redfish/v1 in it, nor what `coldaisle bmc discover --json` prints"
        into.unreadable(where, what, "give a folder that holds a folder a BMC, named by its address")
    return into.reading()


def serial_of(value: Json) -> str | None:
    """Return a serial, None where firmware has a filler in its place."""
    text = text_of(value)
    return None if text is None or text.lower() in NO_SERIAL else text


# -- trees --------------------------------------------------------------------------------------------------------
def _tree(name: str, path: str, tree: Mapping[str, str], into: Collector) -> None:
    address = address_of(name)
    if address is None:
        into.unreadable(path, f"the folder {name} is not named by a BMC's address", "rename it, such as 10.0.0.11")
        return
    resources = {key: json_of(text, f"{path}/{ROOT}/{key}", into) for key, text in sorted(tree.items())}
    for system in _below(resources, "Systems"):
        _system(address, path, system, into)
    for key, manager in _members(resources, "Managers"):
        protocol = "redfish"
        into.add("bmc", address, path, bmc_version=text_of(manager.get("FirmwareVersion")), bmc_protocol=protocol)
        for port in _below(resources, f"{key}/EthernetInterfaces"):
            _manager_port(address, path, port, into)
    for key, _ in _members(resources, "Systems"):
        macs = [mac_of(at(port, "PermanentMACAddress") or at(port, "MACAddress"))
                for port in _below(resources, f"{key}/EthernetInterfaces")]  # fmt: skip
        into.add("bmc", address, path, host_macs=tuple(sorted(mac for mac in macs if mac)))


def _members(resources: Mapping[str, Json], collection: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield path and resource of each member of a collection."""
    for member in maps(at(resources.get(collection), "Members")):
        key = str(member.get("@odata.id", "")).strip("/").removeprefix(f"{ROOT}/")
        resource = resources.get(key)
        if isinstance(resource, dict):
            yield key, resource


def _below(resources: Mapping[str, Json], collection: str) -> Iterator[dict[str, Json]]:
    yield from (resource for _, resource in _members(resources, collection))


def _system(address: str, path: str, system: dict[str, Json], into: Collector) -> None:
    into.add(
        "bmc",
        address,
        path,
        **_machine(system, text_of(system.get("HostName"))),
        firmware={"UEFI": "uefi", "Legacy": "bios"}.get(str(at(system, "Boot", "BootSourceOverrideMode"))),
    )


def _machine(system: dict[str, Json], host: str | None) -> dict[str, Value | None]:
    """Return what a system resource says that the machine is, and the name that its host has told the BMC."""
    return {
        "manufacturer": text_of(system.get("Manufacturer")),
        "model": text_of(system.get("Model")),
        "serial": serial_of(system.get("SerialNumber")),
        "bios_version": text_of(system.get("BiosVersion")),
        "hostname": host.lower().partition(".")[0] if host else None,
    }


def _manager_port(address: str, path: str, port: dict[str, Json], into: Collector) -> None:
    """Keep the MAC of the port that has the BMC's own address; a manager lists ports inside the host too."""
    has = {each.get("Address") for key in ("IPv4Addresses", "IPv6Addresses") for each in maps(port.get(key))}
    if address in has:
        into.add("bmc", address, path, bmc_mac=mac_of(port.get("PermanentMACAddress") or port.get("MACAddress")))


# -- asked live ---------------------------------------------------------------------------------------------------
def _whole(value: Json, path: str, into: Collector) -> None:
    """Read what one BMC told to `read_whole` of our collection, with the address at which it was asked."""
    address, parts = address_of(at(value, "address")), at(value, "parts")
    if address is None or not isinstance(parts, dict):
        return
    system = next(maps(parts.get("system")), {})
    into.add(
        "bmc",
        address,
        path,
        **_machine(system, text_of(at(value, "hostname"))),
        firmware=text_of(at(value, "boot_mode")),
        bmc_protocol="redfish",
        kind="node" if parts.get("gpus") else None,
        bmc_mac=mac_of(at(value, "bmc", "mac")),
        bmc_version=text_of(at(value, "bmc", "version")),
        host_macs=tuple(sorted(mac for port in maps(parts.get("ports")) if (mac := mac_of(port.get("mac"))))),
        psus=len(list(maps(parts.get("power_supplies")))) or None,
        **_gpus(parts),
    )
    gaps = at(value, "gaps") or {}
    into.untold += [Untold("redfish", address, what, str(why)) for what, why in sorted(gaps.items())]


def _gpus(parts: dict[str, Json]) -> dict[str, Value | None]:
    """Return how many GPUs there are, of which product where all are alike, and serials by slot of GPUs and memory."""
    gpus = list(maps(parts.get("gpus")))
    products = {text_of(gpu.get("Model")) for gpu in gpus}
    return {
        "gpus": len(gpus) or None,
        "gpu_product": products.pop() if len(products) == 1 else None,
        "gpu_serials": _serials(gpus),
        "dimm_serials": _serials(maps(parts.get("memory"))),
    }


def _serials(parts: Iterable[dict[str, Json]]) -> tuple[str, ...]:
    """Return SLOT=SERIAL of parts, in the order of the slots; one without either is not named."""
    found = ((text_of(part.get("Id")), serial_of(part.get("SerialNumber"))) for part in parts)
    return tuple(sorted(f"{slot}={serial}" for slot, serial in found if slot and serial))


# -- coldaisle bmc discover ---------------------------------------------------------------------------------------
def _discovered(value: Json, path: str, into: Collector) -> None:
    for place in maps(at(value, "bmcs")):
        found = place.get("found")
        address = address_of(at(found, "address"))
        if address is None:
            continue
        into.add(
            "bmc",
            address,
            f"{path} {address}",
            manufacturer=text_of(at(found, "vendor")),
            model=text_of(at(found, "model")),
            serial=serial_of(at(found, "serial")),
            bmc_mac=mac_of(at(found, "mac")),
            bmc_protocol="redfish" if at(found, "redfish") else "ipmi",
        )
