"""
MAAS: what `maas PROFILE machines read` prints and, beside it, what `maas PROFILE machines power-parameters` prints.

The second holds the BMCs' addresses, and passwords in clear text: only address and MAC are looked at.
"""

from __future__ import annotations

from collections.abc import Mapping

from coldaisle.adopt.facts import Collector, Reading
from coldaisle.adopt.readers.parsing import Json, address_of, at, json_of, mac_of, maps, number_of, subnet_of, text_of

PROTOCOLS: Mapping[str, str] = {"redfish": "redfish", "ipmi": "ipmi"}
BOOTS: Mapping[str, str] = {"uefi": "uefi", "pxe": "bios"}
"""Firmware by MAAS' word for how a machine boots."""
DEFAULTS = frozenset({"default", "Unknown"})
"""Words that MAAS uses where nothing was said."""


def read(files: Mapping[str, str]) -> Reading:
    """Return what MAAS tells; one file is the list of machines, another may hold power parameters."""
    into = Collector("maas")
    values = {path: json_of(text, path, into) for path, text in sorted(files.items()) if path.endswith(".json")}
    machines = [(path, each) for path, value in values.items() for each in maps(value) if "system_id" in each]
    if not machines and not into.problems:
        where = ", ".join(sorted(files)) or "maas"
        into.unreadable(where, "there are no machines in it", "give what `maas PROFILE machines read` prints")
    hosts = {}
    for path, machine in machines:
        name = text_of(machine.get("hostname"))
        if name:
            hosts[str(machine["system_id"])] = name.lower()
            _machine(name.lower(), machine, f"{path} {machine['system_id']}", into)
    for path, value in values.items():
        _power(value, hosts, path, into)
    return into.reading()


def _said(value: Json) -> str | None:
    text = text_of(value)
    return None if text in DEFAULTS else text


def _machine(name: str, machine: dict[str, Json], where: str, into: Collector) -> None:
    info = machine.get("hardware_info")
    into.add("site", "", where, domain=text_of(at(machine, "domain", "name")))
    into.add(
        "device",
        name,
        where,
        manufacturer=_said(at(info, "system_vendor")),
        model=_said(at(info, "system_product")),
        serial=_said(at(info, "system_serial")),
        kind="node",
        pool=_said(at(machine, "pool", "name")),
        firmware=BOOTS.get(str(machine.get("bios_boot_method"))),
        architecture=_architecture(machine.get("architecture")),
        bmc_protocol=PROTOCOLS.get(str(machine.get("power_type"))),
        image=" ".join(filter(None, (text_of(machine.get("osystem")), text_of(machine.get("distro_series"))))) or None,
        boot_port=text_of(at(machine, "boot_interface", "name")),
    )
    boot = text_of(at(machine, "boot_interface", "name"))
    for port in maps(machine.get("interface_set")):
        _port(name, port, where, into, boots=text_of(port.get("name")) == boot)


def _architecture(value: Json) -> str | None:
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(str(value or "").partition("/")[0])


def _port(name: str, port: dict[str, Json], where: str, into: Collector, *, boots: bool) -> None:
    own = text_of(port.get("name"))
    if own is None or port.get("type") not in {"physical", None}:
        return
    links = [link for link in maps(port.get("links")) if address_of(link.get("ip_address"))]
    first = links[0] if links else {}
    subnet, address = subnet_of(at(first, "subnet", "cidr")), address_of(first.get("ip_address"))
    whole = f"{address}/{subnet.partition('/')[2]}" if subnet and address else None
    into.add(
        "port",
        f"{name}:{own}",
        where,
        name=own,
        mac=mac_of(port.get("mac_address")),
        address=whole,
        mtu=number_of(port.get("effective_mtu")) if links else None,
    )
    if boots:
        gateway = address_of(at(first, "subnet", "gateway_ip"))
        vlan = number_of(at(first, "subnet", "vlan", "vid")) or None
        into.add("network", "management", where, subnet=subnet, gateway=gateway, vlan=vlan)
        into.add("device", name, where, management_address=address)


def _power(value: Json, hosts: Mapping[str, str], path: str, into: Collector) -> None:
    """Read power parameters by system id; nothing but address and MAC is looked at."""
    if not isinstance(value, dict):
        return
    for system_id, name in hosts.items():
        where = f"{path} {system_id}"
        parameters = value.get(system_id)
        address = address_of(str(at(parameters, "power_address") or "").removeprefix("https://").partition("/")[0])
        into.add("device", name, where, bmc_address=address, bmc_mac=mac_of(at(parameters, "mac_address")))
