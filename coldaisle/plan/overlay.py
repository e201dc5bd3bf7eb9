"""
Tenants over EVPN-VXLAN: numbers that stay, the leaves that carry each network, and what a leaf's ports carry.

A network is on the leaves that have a port with it and on no other, so that a leaf knows no more than its nodes need.
"""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from coldaisle.plan.address_pools import host_pool
from coldaisle.plan.host_side import plan_interfaces
from coldaisle.plan.model import (
    BondPlan,
    CablePlan,
    EvpnSessionPlan,
    ExitPlan,
    OverlayPlan,
    PortVlansPlan,
    SwitchPlan,
    TenantNetworkPlan,
    TenantPlan,
    VtepPlan,
    VtepVlanPlan,
)
from coldaisle.spec.fabrics import FabricSpec
from coldaisle.spec.overlay import NumberRange, OverlaySpec, TenantExit, TenantNetwork, first_address
from coldaisle.spec.sections import SiteSpec

Key = tuple[str, str]
"""Names of a tenant and of its network."""


@dataclass(frozen=True, slots=True)
class OverlayNumbers:
    """The numbers of an overlay: VLAN and VNI of each network by `tenant:network`, and of each tenant by its name."""

    vlan: Mapping[str, int]
    transit_vlan: Mapping[str, int]
    l2_vni: Mapping[str, int]
    l3_vni: Mapping[str, int]


RESERVED_VLANS: Mapping[str, range] = {"eos": range(1006, 1200), "cumulus": range(3725, 4000)}
"""
VLANs that systems keep for their own ports: EOS those that its configuration here gives it, Cumulus Linux its default
(Cumulus Linux User Guide, Traditional and VLAN-aware bridges, reserved VLAN range).
"""
SYSTEMS = ("cumulus", "sonic", "eos", "frr")
"""Operating systems of switches that an overlay's configuration is written for."""
KINDS = ("vlan", "transit_vlan", "l2_vni", "l3_vni")


def kind_of(fabric: str, kind: str) -> str:
    """Return the name that allocations.yaml has for a kind of number of a fabric."""
    return f"fabric_{fabric}_{kind}"


def hand_out_numbers(
    pool: NumberRange, names: Iterable[str], given: Mapping[str, int], fixed: Mapping[str, int], reserved: Iterable[int]
) -> dict[str, int]:
    """
    Return a number for each name: its fixed one, else what was given before, else the lowest free one in order.

    Args:
        pool: Where numbers come from. Behind its end they go on, and the check `pool-too-small` tells of it.
        names: Who needs one, in any order.
        given: What was handed out before, by name; names that are gone keep theirs.
        fixed: What the spec writes down.
        reserved: Numbers that belong to something else.
    """
    taken = {*given.values(), *fixed.values(), *reserved}
    free = (number for number in count(pool.first) if number not in taken)
    return {name: fixed.get(name) or given.get(name) or next(free) for name in sorted(set(names))}


def overlay_numbers(spec: SiteSpec, name: str) -> OverlayNumbers | None:
    """Return the numbers of a fabric's overlay; None where it has none."""
    fabric = spec.fabrics[name]
    overlay = fabric.overlay
    if overlay is None:
        return None
    networks = {f"{tenant}:{network}": one for (tenant, network), one in _networks(overlay).items()}
    given = {kind: _given(spec, kind_of(name, kind)) for kind in KINDS}
    vlans = {key: one.vlan for key, one in networks.items() if one.vlan is not None}
    vnis = {key: one.vni for key, one in networks.items() if one.vni is not None}
    routed = {tenant: one.vni for tenant, one in overlay.tenants.items() if one.vni is not None}
    pools, access = overlay.pools, {fabric.access_vlan}
    return OverlayNumbers(
        vlan=hand_out_numbers(pools.vlans, networks, given["vlan"], vlans, access),
        transit_vlan=hand_out_numbers(
            pools.transit_vlans, overlay.tenants, given["transit_vlan"], {}, {*vlans.values(), *access}
        ),
        l2_vni=hand_out_numbers(pools.l2_vnis, networks, given["l2_vni"], vnis, routed.values()),
        l3_vni=hand_out_numbers(pools.l3_vnis, overlay.tenants, given["l3_vni"], routed, vnis.values()),
    )


def _given(spec: SiteSpec, kind: str) -> dict[str, int]:
    """Return the numbers of a kind that earlier plans handed out; what is no number of eight digits at most is none."""
    found = spec.allocations.get(kind, {}).items()
    return {name: int(value) for name, value in found if value.isdecimal() and len(value) <= len("16777215")}


def _networks(overlay: OverlaySpec) -> dict[Key, TenantNetwork]:
    return {(t, n): one for t, tenant in sorted(overlay.tenants.items()) for n, one in sorted(tenant.networks.items())}


def plan_overlay(
    spec: SiteSpec,
    name: str,
    switches: Iterable[SwitchPlan],
    cables: Iterable[CablePlan],
    bonds: Iterable[BondPlan],
) -> OverlayPlan | None:
    """
    Return the overlay of a fabric; None where the spec asks for none.

    Args:
        spec: The site.
        name: The fabric's name.
        switches: The fabric's switches; its leaves are the ends of tunnels, in their order.
        cables: The fabric's cables, which say which leaf a node's port is on.
        bonds: The fabric's bonds, which carry what their ports do.
    """
    fabric, numbers = spec.fabrics[name], overlay_numbers(spec, name)
    if fabric.overlay is None or numbers is None:
        return None
    overlay, cables = fabric.overlay, tuple(cables)
    networks = tuple(_network(spec, fabric, overlay, numbers, key, asked) for key, asked in _networks(overlay).items())
    tenants = tuple(_tenant(overlay, numbers, tenant, networks) for tenant in sorted(overlay.tenants))
    ports = tuple(_ports(spec, overlay, numbers, cables))
    return OverlayPlan(
        gateway_mac=overlay.gateway_mac,
        arp_suppression=overlay.arp_suppression,
        tenants=tenants,
        networks=networks,
        vteps=tuple(_vteps(overlay, networks, tenants, switches, ports)),
        ports=ports,
        sessions=tuple(_sessions(cables)),
        interfaces=plan_interfaces(spec, name, networks, cables, bonds),
    )


def _target(overlay: OverlaySpec, vni: int) -> str:
    return f"{overlay.route_target_asn}:{vni}"


def _tenant(
    overlay: OverlaySpec, numbers: OverlayNumbers, name: str, networks: Iterable[TenantNetworkPlan]
) -> TenantPlan:
    vni, own = numbers.l3_vni[name], [network for network in networks if network.tenant == name]
    return TenantPlan(
        name=name,
        vni=vni,
        transit_vlan=numbers.transit_vlan[name],
        route_target=_target(overlay, vni),
        exits=tuple(_exit(asked, own) for asked in overlay.tenants[name].exits),
    )


def _exit(asked: TenantExit, networks: Iterable[TenantNetworkPlan]) -> ExitPlan:
    """Return a way out, with the VLAN of the network that its router stands in."""
    router = ipaddress.ip_address(asked.via)
    found = (n.vlan for n in networks if n.subnet is not None and router in ipaddress.ip_network(n.subnet))
    return ExitPlan(to=asked.to, via=asked.via, vlan=next(found, None))


def _network(  # noqa: PLR0913, PLR0917 - a network, and what its parts are looked up in
    spec: SiteSpec, fabric: FabricSpec, overlay: OverlaySpec, numbers: OverlayNumbers, key: Key, asked: TenantNetwork
) -> TenantNetworkPlan:
    name = ":".join(key)
    vni, (subnet, gateway) = numbers.l2_vni[name], _gateway(spec, asked)
    boot = [spec.provisioning.host_address] if spec.provisioning and asked.dhcp_relay else []
    return TenantNetworkPlan(
        tenant=key[0],
        name=key[1],
        vlan=numbers.vlan[name],
        vni=vni,
        route_target=_target(overlay, vni),
        subnet=subnet,
        gateway=gateway,
        mtu_bytes=asked.mtu_bytes if asked.mtu_bytes is not None else fabric.node_mtu_bytes,
        relays=tuple(asked.dhcp_servers or boot),
    )


def _gateway(spec: SiteSpec, asked: TenantNetwork) -> tuple[str | None, str | None]:
    """Return subnet and gateway of a network, the gateway with its prefix length; two Nones without a subnet."""
    pool = spec.addressing.management if asked.addressing else None
    subnet, gateway = (pool.subnet, pool.gateway) if pool else (asked.subnet, asked.gateway)
    if subnet is None:
        return None, None
    return subnet, f"{gateway or first_address(subnet)}/{subnet.partition('/')[2]}"


def _ports(
    spec: SiteSpec, overlay: OverlaySpec, numbers: OverlayNumbers, cables: Iterable[CablePlan]
) -> Iterator[PortVlansPlan]:
    """Yield what each leaf's port towards a node or a device carries; a port without a network is left out."""
    pools = {node.name: node.pool for node in spec.nodes}
    untagged, tagged = _carried(overlay, numbers, tags=False), _carried(overlay, numbers, tags=True)
    for cable in cables:
        if cable.kind != "node-leaf":
            continue
        device = cable.a.device
        owner = ("pool", pools[device]) if device in pools else ("device", device)
        bare, others = untagged.get(owner, []), tagged.get(owner, [])
        if bare or others:
            yield PortVlansPlan(port=cable.b, untagged=bare[0] if bare else None, tagged=tuple(sorted(set(others))))


def _carried(overlay: OverlaySpec, numbers: OverlayNumbers, *, tags: bool) -> dict[tuple[str, str], list[int]]:
    """Return the VLANs that the ports of each pool and device carry with a tag, or without."""
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for (tenant, network), asked in _networks(overlay).items():
        ports = asked.tagged if tags else asked.untagged
        for kind, names in (("pool", ports.pools), ("device", ports.devices)):
            for name in names:
                found[kind, name].append(numbers.vlan[f"{tenant}:{network}"])
    return found


def _vteps(
    overlay: OverlaySpec,
    networks: Iterable[TenantNetworkPlan],
    tenants: Iterable[TenantPlan],
    switches: Iterable[SwitchPlan],
    ports: Iterable[PortVlansPlan],
) -> Iterator[VtepPlan]:
    """Yield the tunnel end of each leaf that routes, with the VLANs that its ports carry."""
    pool = host_pool(overlay.vteps)
    carried: defaultdict[str, set[int]] = defaultdict(set)
    for port in ports:
        carried[port.port.device] |= {*port.tagged, *([] if port.untagged is None else [port.untagged])}
    for index, switch in enumerate(switch for switch in switches if switch.role == "leaf"):
        if switch.loopback is None:
            continue
        own = [network for network in networks if network.vlan in carried[switch.name]]
        routed = {network.tenant for network in own if network.gateway is not None}
        yield VtepPlan(
            switch=switch.name,
            address=pool.bottom(index),
            networks=_distinguished(switch.loopback, (network.vlan for network in own)),
            tenants=_distinguished(switch.loopback, (one.transit_vlan for one in tenants if one.name in routed)),
        )


def _distinguished(router_id: str, vlans: Iterable[int]) -> tuple[VtepVlanPlan, ...]:
    return tuple(VtepVlanPlan(vlan=vlan, route_distinguisher=f"{router_id}:{vlan}") for vlan in vlans)


def _sessions(cables: Iterable[CablePlan]) -> Iterator[EvpnSessionPlan]:
    """Yield a session for each pair of switches that a cable joins."""
    pairs = dict.fromkeys((c.a.device, c.b.device) for c in cables if c.kind in {"leaf-spine", "spine-core"})
    for lower, upper in pairs:
        yield EvpnSessionPlan(lower=lower, upper=upper)
