"""The network ports of a host as the kernel has them, and the names that the plan gives them."""

from __future__ import annotations

import json

from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Context,
    FactError,
    forget,
    per_reading,
    run,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@per_reading
def ports() -> dict[str, dict[str, Any]]:
    """Return what the kernel says of each port, by name: from netlink, since a container's sysfs may be another's."""
    return {port["ifname"]: port for port in json.loads(run("ip", "-json", "-details", "address", "show"))}


def port(nic: str) -> dict[str, Any]:
    """
    Return what the kernel says of one port.

    Raises:
        FactError: there is no such port.

    """
    if nic not in ports():
        raise FactError(f"there is no port {nic}; there are {', '.join(ports())}")
    return ports()[nic]


def own_mac(found: dict[str, Any]) -> str:
    """
    Return a port's own MAC address; a bond or a VLAN, which shows that of a port, has none.

    A member of a bond goes by the bond's address, and keeps its own beside it.
    """
    stacked = found.get("linkinfo", {}).get("info_kind") in {"bond", "vlan"}
    return "" if stacked else str(found.get("permaddr") or found.get("address") or "").lower()


def addresses(nic: str) -> list[str]:
    """Return a port's IPv4 addresses beyond the link, with their prefix lengths, sorted."""
    wanted = [info for info in port(nic)["addr_info"] if (info["family"], info["scope"]) == ("inet", "global")]
    return sorted(f"{info['local']}/{info['prefixlen']}" for info in wanted)


def set_link(nic: str, *what: str) -> None:
    """Change a port as `ip link set` does."""
    run("ip", "link", "set", "dev", nic, *what)
    forget()


def name_port(nic: str, context: Context) -> None:
    """
    Name the port that has the plan's MAC address, where another has the name, or none.

    Raises:
        FactError: no port has that address.

    """
    mac = str(context.links.get(nic, {}).get("mac") or "").lower()
    if not mac or (nic in ports() and own_mac(ports()[nic]) == mac):
        return
    other = next((name for name, found in ports().items() if own_mac(found) == mac), None)
    if other is None:
        raise FactError(f"no port has the MAC address {mac} of {nic}: compare hardware.yaml with `ip link`")
    if nic in ports():  # two ports have each other's names: this one gets its own when its turn comes
        _rename(nic, f"{nic}-x")
    _rename(other, nic)


def _rename(old: str, new: str) -> None:
    for what in (("down",), ("name", new)):
        set_link(old, *what)
    set_link(new, "up")


def reconfigure(nic: str) -> None:
    """Let networkd take over the files that were written for it."""
    run("systemctl", "enable", "--now", "systemd-networkd")
    run("networkctl", "reload")
    run("networkctl", "reconfigure", nic)
