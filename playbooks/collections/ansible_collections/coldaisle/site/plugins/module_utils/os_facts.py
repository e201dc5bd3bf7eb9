"""Facts of the operating system: name, clock, user, network ports, kernel settings."""

from __future__ import annotations

import functools
import json
import pwd
import socket
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Context,
    Fact,
    FactError,
    Value,
    read_text,
    run,
    wait_until,
    write_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ZONES = Path("/usr/share/zoneinfo")
LOCALTIME = Path("/etc/localtime")
HUGEPAGES_2MI = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
TIME_SERVICES = ("chrony", "chronyd", "systemd-timesyncd", "ntpsec")
"""Units that keep the clock, in the order in which one is chosen where none is on."""


def _set_hostname(_name: str, planned: Value, _context: Context) -> None:
    Path("/etc/hostname").write_text(f"{planned}\n", encoding="utf-8")
    socket.sethostname(str(planned))


def _read_timezone(_name: str) -> str:
    target = LOCALTIME.resolve()
    return str(target.relative_to(ZONES)) if target.is_relative_to(ZONES) else "not set"


def _set_timezone(_name: str, planned: Value, _context: Context) -> None:
    if not (ZONES / str(planned)).is_file():
        raise FactError(f"{ZONES / str(planned)} does not exist: is tzdata installed, and the zone's name right?")
    fresh = LOCALTIME.with_suffix(".coldaisle")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(ZONES / str(planned))
    fresh.rename(LOCALTIME)
    Path("/etc/timezone").write_text(f"{planned}\n", encoding="utf-8")


def unit_state(unit: str) -> str:
    """Return what `systemctl is-enabled` says of a unit; it exits with an error for every state but enabled."""
    return run("systemctl", "show", "--property=UnitFileState", "--value", unit).strip()


def _read_time_sync(_name: str) -> str:
    on = [unit for unit in TIME_SERVICES if unit_state(unit) == "enabled"]
    return "enabled" if on else "disabled"


def _set_time_sync(_name: str, _planned: Value, _context: Context) -> None:
    there = [unit for unit in TIME_SERVICES if unit_state(unit)]
    if not there:
        raise FactError(f"none of {', '.join(TIME_SERVICES)} is installed in the image")
    run("systemctl", "enable", "--now", there[0])


def _read_user(name: str) -> str:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return "absent"
    return "present"


def _set_user(name: str, _planned: Value, _context: Context) -> None:
    run("useradd", "--create-home", "--shell", "/bin/bash", "--user-group", name)


@functools.cache
def _ports() -> dict[str, dict[str, Any]]:
    """Return what the kernel says of each port, by name: from netlink, since a container's sysfs may be another's."""
    return {port["ifname"]: port for port in json.loads(run("ip", "-json", "address", "show"))}


def _port(nic: str) -> dict[str, Any]:
    if nic not in _ports():
        raise FactError(f"there is no port {nic}; there are {', '.join(_ports())}")
    return _ports()[nic]


def _ip_link_set(nic: str, *what: str) -> None:
    run("ip", "link", "set", "dev", nic, *what)
    _ports.cache_clear()


def _read_mtu(nic: str) -> int:
    return int(_port(nic)["mtu"])


def _set_mtu(nic: str, planned: Value, context: Context) -> None:
    _set_port_name(nic, context)
    _ip_link_set(nic, "mtu", str(planned))


def _set_port_name(nic: str, context: Context) -> None:
    """Name the port that has the plan's MAC address, where it has another name yet."""
    mac = str(context.links.get(nic, {}).get("mac") or "").lower()
    if not mac or nic in _ports():
        return
    other = next((name for name, port in _ports().items() if port.get("address") == mac), None)
    if other is None:
        raise FactError(f"no port has the MAC address {mac} of {nic}: compare hardware.yaml with `ip link`")
    for what in (("down",), ("name", nic)):
        _ip_link_set(other, *what)
    _ip_link_set(nic, "up")


def _read_address(nic: str) -> str:
    """Return the port's IPv4 addresses beyond the link, with their prefix lengths."""
    wanted = [info for info in _port(nic)["addr_info"] if (info["family"], info["scope"]) == ("inet", "global")]
    return ",".join(sorted(f"{info['local']}/{info['prefixlen']}" for info in wanted)) or "none"


def _has_address(nic: str, planned: Value) -> bool:
    _ports.cache_clear()
    return _read_address(nic) == planned


def _set_address(nic: str, planned: Value, context: Context) -> None:
    """Let networkd take over the files that were written for it, and wait until it has."""
    _set_port_name(nic, context)
    run("systemctl", "enable", "--now", "systemd-networkd")
    run("networkctl", "reload")
    run("networkctl", "reconfigure", nic)
    wait_until(lambda: _has_address(nic, planned), timeout_s=10)


def _read_sysctl(key: str) -> str:
    return " ".join(read_text(_sysctl_path(key)).split())


def _set_sysctl(key: str, planned: Value, _context: Context) -> None:
    write_text(_sysctl_path(key), f"{planned}\n")


def _sysctl_path(key: str) -> Path:
    """Return the file of a sysctl; a slash in the key stands for a dot in a port's name, as sysctl.d has it."""
    return Path("/proc/sys") / "/".join(part.replace("/", ".") for part in key.split("."))


FACTS: dict[str, Fact] = {
    "hostname": Fact(lambda _name: socket.gethostname(), _set_hostname),
    "timezone": Fact(_read_timezone, _set_timezone),
    "time_sync": Fact(_read_time_sync, _set_time_sync),
    "user": Fact(_read_user, _set_user),
    "mtu": Fact(_read_mtu, _set_mtu, "the driver's limit (`ip -d link`), and the MTU of the other end"),
    "address": Fact(_read_address, _set_address, "networkctl status of the port, journalctl -u systemd-networkd"),
    "sysctl": Fact(_read_sysctl, _set_sysctl, "whether this kernel, or the container's limits, let the value be set"),
    "hugepages_2mi": Fact(
        lambda _name: int(read_text(HUGEPAGES_2MI)),
        lambda _name, planned, _context: write_text(HUGEPAGES_2MI, f"{planned}\n"),
        "free memory: after a long uptime it is too fragmented for huge pages, and a reboot gives them",
    ),
}
