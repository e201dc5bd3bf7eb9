"""All that one BMC tells of its machine and of itself, for who takes over a machine that nobody has planned."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Bmc, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_beside import service_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_boot_options import plain_mac
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import logged_in, read_fact, with_settings
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import Service, link

Json = dict[str, Any]
ROOT = "/redfish/v1/"


def read_whole(params: Json) -> Json:
    """
    Return `parts` and `gaps` as an inventory has them, `boot_mode`, the machine's `hostname`, and the BMC's own data.

    Power supplies are one more kind of part; `bmc` has `mac` and `version`. What is not told is a gap with its reason.

    Raises:
        BmcError: the BMC cannot be reached, does not let us in, or speaks no Redfish.
        FactError: the credentials cannot be read.

    """
    with logged_in(params) as bmc:
        found = with_settings(bmc, "inventory").inventory()
        gaps = dict(found.gaps)
        told: Json = {"bmc": {}, "parts": found.parts, "gaps": gaps}
        told["boot_mode"] = _told(gaps, "boot_mode", lambda: _mode(bmc))
        with contextlib.closing(service_of(params)) as service:
            root = _told(gaps, "bmc", lambda: service.get(ROOT)) or {}
            told["bmc"] = _told(gaps, "bmc", lambda: _manager(service, root, _host(params["address"]))) or {}
            told["hostname"] = _told(gaps, "hostname", lambda: _hostname(service, root))
            supplies = _told(gaps, "power_supplies", lambda: list(_supplies(service, root))) or []
    told["parts"] = {**found.parts, "power_supplies": supplies}
    if not supplies:
        gaps.setdefault("power_supplies", "the BMC lists none")
    if not told["bmc"].get("mac"):
        gaps.setdefault("bmc_mac", "no port of the manager has the address that was asked")
    return told


def _told(gaps: dict[str, str], what: str, call: Callable[[], Any]) -> Any:  # noqa: ANN401  # what the BMC tells
    try:
        return call()
    except BmcError as error:
        gaps[what] = str(error)
        return None


def _mode(bmc: Bmc) -> str:
    return read_fact(bmc, "boot_mode").now


def _hostname(service: Service, root: Json) -> str | None:
    """Return the name that the operating system told the BMC, where only one system has one."""
    names = {str(it["HostName"]) for it in service.members(link(root, "Systems")) if it.get("HostName")}
    return names.pop() if len(names) == 1 else None


def _host(address: str) -> str | None:
    return urlsplit(address if "://" in address else f"//{address}").hostname


def _manager(service: Service, root: Json, address: str | None) -> Json:
    """Return the version of the manager and the MAC of the port that has the BMC's own address."""
    found: Json = {}
    for manager in service.members(link(root, "Managers")):
        found.setdefault("version", manager.get("FirmwareVersion"))
        for port in service.members(link(manager, "EthernetInterfaces")):
            has = [it.get("Address") for key in ("IPv4Addresses", "IPv6Addresses") for it in port.get(key) or []]
            mac = port.get("PermanentMACAddress") or port.get("MACAddress")
            if address in has and mac:
                found["mac"] = plain_mac(str(mac))
    return {key: value for key, value in found.items() if value}


def _supplies(service: Service, root: Json) -> Iterator[Json]:
    """Yield power supplies: of PowerSubsystem (since 2020.4), else of Power, which it took the place of."""
    for chassis in service.members(link(root, "Chassis")):
        subsystem = service.find(link(chassis, "PowerSubsystem"))
        newer = list(service.members(link(subsystem, "PowerSupplies")))
        older = (service.find(link(chassis, "Power")) or {}).get("PowerSupplies") or [] if not newer else []
        for supply in (*newer, *older):
            if (supply.get("Status") or {}).get("State") != "Absent":
                names = ("Id", "MemberId", "Manufacturer", "Model", "SerialNumber", "PowerCapacityWatts")
                yield {name: supply[name] for name in names if supply.get(name)}
