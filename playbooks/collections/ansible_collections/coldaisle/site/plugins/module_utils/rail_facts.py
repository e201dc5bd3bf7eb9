"""Facts of a rail's port: that it is the right port, that its traffic leaves by it, and what its path carries."""

from __future__ import annotations

import json

from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Context,
    Fact,
    FactError,
    Value,
    forget,
    per_reading,
    run,
    wait_until,
)
from ansible_collections.coldaisle.site.plugins.module_utils.ports import (
    addresses,
    name_port,
    own_mac,
    port,
    ports,
    reconfigure,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

IP_AND_ICMP_BYTES = 28
"""Headers of IPv4 (20) and of an echo (8): what a packet carries beside the bytes that ping is asked for."""

MAIN = "main"
"""The table that `ip` does not name where it shows the routes of all."""

USUAL_MTU_BYTES = (9000, 4200, 1500, 576)
"""Tried in turn where the port's own MTU does not pass: jumbo frames, RoCE's 4096, Ethernet's, the least of IPv4."""


def _read_mac(nic: str) -> str:
    return own_mac(port(nic)) if nic in ports() else "absent"


def _set_mac(nic: str, _planned: Value, context: Context) -> None:
    name_port(nic, context)


@per_reading
def _ip_json(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("ip", "-json", *words) or "[]")
    return found


def _gateways(nic: str) -> list[tuple[str, str]]:
    """Return, for each table that a rule sends this port's own address to, its default route: gateway and port."""
    own = {address.partition("/")[0] for address in addresses(nic)}
    tables = {str(rule["table"]) for rule in _ip_json("rule", "show") if rule.get("src") in own and "table" in rule}
    routes = [it for it in _ip_json("-4", "route", "show", "table", "all") if str(it.get("table", MAIN)) in tables]
    return [(str(it.get("gateway")), str(it.get("dev"))) for it in routes if it["dst"] == "default"]


def _read_route(nic: str) -> str:
    """Return by which gateway what comes from the port's address leaves, and by which port where it is another."""
    found = [gateway if by == nic else f"{gateway} by {by}" for gateway, by in _gateways(nic)]
    return ",".join(sorted(found)) or "none"


def _has_route(nic: str, planned: Value) -> bool:
    forget()
    return _read_route(nic) == planned


def _set_route(nic: str, planned: Value, context: Context) -> None:
    name_port(nic, context)
    reconfigure(nic)
    wait_until(lambda: _has_route(nic, planned), timeout_s=10)


def _echoes(own: str, peer: str, mtu_bytes: int) -> bool:
    """Tell whether the peer answers a packet of this size that may not be cut into pieces; the first may be lost."""
    size = str(mtu_bytes - IP_AND_ICMP_BYTES)
    return any(_answers("-s", size, "-I", own, peer) for _try in range(2))


def _answers(*words: str) -> bool:
    try:
        run("ping", "-n", "-q", "-M", "do", "-c", "1", "-W", "1", *words)
    except FactError as error:
        if "not installed" in str(error):
            raise
        return False
    return True


def _read_path_mtu(nic: str) -> int:
    """
    Return the largest packet that the port's peer answers: the port's own MTU, or the largest usual one that passes.

    Raises:
        FactError: the port has no peer to ask, or it answers not even small packets.

    """
    own = next((address.partition("/")[0] for address in addresses(nic)), None)
    peer = next((gateway for gateway, by in _gateways(nic) if by == nic), None)
    if own is None or peer is None:
        raise FactError(f"{nic} has no address with a gateway that could be asked")
    largest = int(port(nic)["mtu"])
    for size in (largest, *(usual for usual in USUAL_MTU_BYTES if usual < largest)):
        if _echoes(own, peer, size):
            return size
    raise FactError(f"{peer} does not answer {own}: is the link up, and does the switch answer echoes?")


FACTS: dict[str, Fact] = {
    "mac": Fact(_read_mac, _set_mac, "hardware.yaml against `ip link`: was a port or a cable exchanged?"),
    "route": Fact(_read_route, _set_route, "ip rule, ip route show table all, networkctl status of the port"),
    "path_mtu": Fact(
        _read_path_mtu,
        None,
        "the MTU of the switch's port, and of everything between (a tap, a bridge)",
        rule="at_least",
        follows=True,
    ),
}
