"""Facts of a host's network: its ports, bonds and VLANs, with their MTUs and addresses."""

from __future__ import annotations

from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Context,
    Fact,
    FactError,
    Value,
    forget,
    run,
    wait_until,
)
from ansible_collections.coldaisle.site.plugins.module_utils.ports import addresses as own_addresses
from ansible_collections.coldaisle.site.plugins.module_utils.ports import name_port, port, ports, set_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NETWORKD = "systemd-networkd"
NETWORKD_S = 10
"""Time that networkd has to make a change true; a bond's ports go down and up again in it."""


# -- reading ----------------------------------------------------------------------------------------------------
def _info(nic: str, kind: str) -> dict[str, Any]:
    """Return what the kernel says of a bond or a VLAN beyond a port; nothing of what is none."""
    link = ports().get(nic, {}).get("linkinfo", {})
    return link.get("info_data", {}) if link.get("info_kind") == kind else {}


def _read_mtu(nic: str) -> int:
    return int(port(nic)["mtu"])


def _read_address(nic: str) -> str:
    return ",".join(own_addresses(nic)) or "none"


def _read_addresses(nic: str) -> str:
    """Return all addresses of a port, of the link and of every family: a member of a bond has none."""
    return ",".join(sorted(f"{info['local']}/{info['prefixlen']}" for info in port(nic)["addr_info"])) or "none"


def _read_mode(bond: str) -> str:
    return str(_info(bond, "bond").get("mode", "absent"))


def _read_lacp_rate(bond: str) -> str:
    return str(_info(bond, "bond").get("ad_lacp_rate", "absent"))


def _read_hash(bond: str) -> str:
    return str(_info(bond, "bond").get("xmit_hash_policy", "absent"))


def _read_members(bond: str) -> str:
    """Return the ports that are in a bond, sorted."""
    return ",".join(sorted(name for name, port in ports().items() if port.get("master") == bond)) or "none"


def _read_vlan(nic: str) -> Value:
    found = _info(nic, "vlan").get("id")
    return "absent" if found is None else int(found)


# -- changing ---------------------------------------------------------------------------------------------------
def _set_mtu(nic: str, planned: Value, context: Context) -> None:
    name_port(nic, context)
    set_link(nic, "mtu", str(planned))


def _becomes(read: Callable[[str], Value], nic: str, planned: Value) -> bool:
    forget()
    return bool(read(nic) == planned)


def _take_files(*nics: str) -> None:
    """Let networkd take over the files that were written for it, and apply them to some ports anew."""
    run("systemctl", "enable", "--now", NETWORKD)
    run("networkctl", "reload")
    forget()
    there = [nic for nic in nics if nic in ports()]
    if there:
        run("networkctl", "reconfigure", *there)


def _set_address(nic: str, planned: Value, context: Context) -> None:
    name_port(nic, context)
    _take_files(nic)
    wait_until(lambda: _becomes(_read_address, nic, planned), timeout_s=NETWORKD_S)


def _drop_addresses(nic: str, _planned: Value, _context: Context) -> None:
    """
    Take the addresses from a member of a bond, whoever gave them to it.

    Raises:
        FactError: it is in no bond yet, and the addresses may be what the host is reached by.
    """
    forget()
    if "master" not in port(nic):
        raise FactError(f"{nic} is in no bond yet, so that its addresses stay")
    run("ip", "address", "flush", "dev", nic)
    forget()


def _set_members(bond: str, planned: Value, context: Context) -> None:
    members = str(planned).split(",")
    for member in members:
        name_port(member, context)
    strangers = [name for name, port in ports().items() if port.get("master") == bond and name not in members]
    _take_files(*members, *strangers)
    wait_until(lambda: _becomes(_read_members, bond, planned), timeout_s=NETWORKD_S)


def _make_anew(nic: str) -> None:
    """
    Have networkd make a bond or a VLAN, and a wrong one anew, since it never changes one that is there.

    All of it is done on the host itself, which may be out of reach meanwhile. What stood on a wrong one goes with it
    and comes back, which is waited for.
    """
    forget()
    if nic not in ports():
        _take_files(*filter(None, [nic.rpartition(".")[0]]))
        if wait_until(lambda: _is_there(nic), timeout_s=NETWORKD_S / 2):
            return
    before = _stacked()
    if nic in ports():
        run("ip", "link", "delete", "dev", nic)
    run("systemctl", "restart", NETWORKD, timeout_s=60)
    wait_until(lambda: before.items() <= _stacked().items(), timeout_s=NETWORKD_S)


def _is_there(nic: str) -> bool:
    forget()
    return nic in ports()


def _stacked() -> dict[str, tuple[str, str]]:
    """Return the bond and the addresses of each port, bond and VLAN, as they are now."""
    forget()
    return {name: (str(port.get("master")), _read_address(name)) for name, port in ports().items()}


def _setter(read: Callable[[str], Value]) -> Callable[[str, Value, Context], None]:
    """Return what sets a property that a bond or a VLAN has from its beginning."""

    def set_(nic: str, planned: Value, _context: Context) -> None:
        if not _becomes(read, nic, planned):
            _make_anew(nic)
        wait_until(lambda: _becomes(read, nic, planned), timeout_s=NETWORKD_S)

    return set_


FACTS: dict[str, Fact] = {
    "mtu": Fact(
        _read_mtu, _set_mtu, "the driver's limit (`ip -d link`), and the MTU of the other end", rule="at_least"
    ),
    "address": Fact(_read_address, _set_address, "networkctl status of the port, journalctl -u systemd-networkd"),
    "addresses": Fact(_read_addresses, _drop_addresses, "who gives a bond's member addresses: dhclient, an installer"),
    "bond_mode": Fact(_read_mode, _setter(_read_mode), "modprobe bonding, journalctl -u systemd-networkd"),
    "bond_lacp_rate": Fact(_read_lacp_rate, _setter(_read_lacp_rate), "journalctl -u systemd-networkd"),
    "bond_hash": Fact(_read_hash, _setter(_read_hash), "journalctl -u systemd-networkd"),
    "bond_members": Fact(
        _read_members, _set_members, "networkctl status of the member, and its MAC in hardware.yaml", rule="set"
    ),
    "vlan": Fact(_read_vlan, _setter(_read_vlan), "modprobe 8021q, and VLAN= in the file of the port below"),
}
