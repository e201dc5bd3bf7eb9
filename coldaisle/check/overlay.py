"""Checks of overlays: numbers used twice, networks that meet, room for VXLAN's header, and who can be configured."""

from __future__ import annotations

import ipaddress
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations

from coldaisle.check.finding import Finding, finding
from coldaisle.plan.breakout import chosen_os
from coldaisle.plan.model import ExitPlan, FabricPlan, OverlayPlan, SitePlan, TenantNetworkPlan
from coldaisle.plan.overlay import KINDS, RESERVED_VLANS, SYSTEMS, kind_of, overlay_numbers
from coldaisle.spec.marks import Loc
from coldaisle.spec.overlay import NumberRange, OverlaySpec
from coldaisle.spec.sections import SiteSpec

VXLAN_BYTES = 50
"""Ethernet 14, IPv4 20, UDP 8 and VXLAN 8 (RFC 7348): what a tunnel's packet has beside a network's."""


def _overlays(spec: SiteSpec, plan: SitePlan) -> Iterator[tuple[str, FabricPlan, OverlaySpec, OverlayPlan]]:
    for name, fabric in plan.fabrics.items():
        asked = spec.fabrics[name].overlay
        if asked is not None and fabric.overlay is not None:
            yield name, fabric, asked, fabric.overlay


def _network_loc(fabric: str, network: TenantNetworkPlan, *key: str) -> Loc:
    return ("fabrics", fabric, "overlay", "tenants", network.tenant, "networks", network.name, *key)


def _title(network: TenantNetworkPlan) -> str:
    return f"network {network.name} of tenant {network.tenant}"


# -- numbers ----------------------------------------------------------------------------------------------------
def check_vnis(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each VNI is one network's, or one tenant's."""
    for name, _, _, overlay in _overlays(spec, plan):
        tenants: dict[str, tuple[Loc, int]] = {
            f"tenant {one.name}": (("fabrics", name, "overlay", "tenants", one.name, "vni"), one.vni)
            for one in overlay.tenants
        }
        networks = {_title(one): (_network_loc(name, one, "vni"), one.vni) for one in overlay.networks}
        owners: dict[int, str] = {}
        for owner, (loc, vni) in (tenants | networks).items():
            if owners.setdefault(vni, owner) != owner:
                what = f"{owners[vni]} and {owner} both have VNI {vni}, so that their traffic meets"
                fix = "give one of the two another vni, or leave it out"
                yield finding(spec, loc, "vni-used-twice", what=what, fix=fix)


def check_tenant_vlans(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each VLAN of a fabric is one network's, one tenant's, or that of ports without a network."""
    for name, fabric, _, overlay in _overlays(spec, plan):
        owners = {one.transit_vlan: f"the routed traffic of tenant {one.name}" for one in overlay.tenants}
        if fabric.access_vlan is not None:
            owners[fabric.access_vlan] = "ports without a network (access_vlan)"
        reserved = {
            vlan: system
            for system in {switch.network_os for switch in fabric.switches}
            for vlan in RESERVED_VLANS.get(system or "", ())
        }
        for network in overlay.networks:
            if owners.setdefault(network.vlan, _title(network)) != _title(network):
                what = f"VLAN {network.vlan} is that of {owners[network.vlan]} and of {_title(network)}"
                loc, fix = _network_loc(name, network, "vlan"), "give one of the two another VLAN"
                yield finding(spec, loc, "vlan-used-twice", what=what, fix=fix)
        for vlan in sorted(owners.keys() & reserved.keys()):
            what = f"VLAN {vlan} is that of {owners[vlan]}, and {reserved[vlan]} keeps it for its own ports"
            loc, fix = ("fabrics", name, "overlay"), "take another one, or a pool of VLANs that keeps clear of it"
            yield finding(spec, loc, "reserved-vlan", what=what, fix=fix)


def check_overlay_pools(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Every number handed out lies in its pool."""
    for name, _, asked, _ in _overlays(spec, plan):
        numbers = overlay_numbers(spec, name)
        for kind in KINDS:
            pool: NumberRange = getattr(asked.pools, f"{kind}s")
            given: dict[str, int] = getattr(numbers, kind)
            fixed = _written(asked, "vlan" if kind == "vlan" else "vni")
            outside = [key for key, number in given.items() if key not in fixed and number > pool.last]
            if outside:
                what = f"pool {kind}s, {pool.first} to {pool.last}, is too small: {outside[0]} gets {given[outside[0]]}"
                loc = ("fabrics", name, "overlay", "pools", f"{kind}s")
                yield finding(spec, loc, "pool-too-small", what=what, fix="raise its last")


def check_overlay_allocations(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Where an overlay's numbers stand in allocations.yaml, all of them do, so that nobody's moves."""
    for name, _, asked, _ in _overlays(spec, plan):
        numbers, known = (
            overlay_numbers(spec, name),
            {kind: spec.allocations.get(kind_of(name, kind)) for kind in KINDS},
        )
        if not any(known.values()):
            continue
        missing = {
            key
            for kind in KINDS
            for key in getattr(numbers, kind)
            if key not in (known[kind] or {}) and key not in _written(asked, "vlan" if kind == "vlan" else "vni")
        }
        if missing:
            what = f"numbers of {', '.join(sorted(missing))} are not in allocations.yaml: a new tenant may move them"
            fix = f"run coldaisle plan {spec.site.name} --allocate, and commit the file"
            loc = ("fabrics", name, "overlay", "tenants")
            yield finding(spec, loc, "not-allocated", what=what, fix=fix, severity="warning")


def _written(asked: OverlaySpec, key: str) -> set[str]:
    """Return the networks and tenants whose number the spec writes down."""
    networks = {
        f"{tenant}:{name}": network for tenant, one in asked.tenants.items() for name, network in one.networks.items()
    }
    written = {name for name, network in networks.items() if getattr(network, key) is not None}
    return written | {name for name, tenant in asked.tenants.items() if key == "vni" and tenant.vni is not None}


# -- networks ---------------------------------------------------------------------------------------------------
def check_tenant_subnets(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No two networks of one tenant overlap."""
    for name, _, _, overlay in _overlays(spec, plan):
        for one, other in combinations(overlay.networks, 2):
            if one.tenant != other.tenant or one.subnet is None or other.subnet is None:
                continue
            if ipaddress.ip_network(one.subnet).overlaps(ipaddress.ip_network(other.subnet)):
                what = f"{_title(other)} {other.subnet} overlaps network {one.name} {one.subnet}"
                fix = "give one of the two another subnet, or put them into two tenants"
                yield finding(spec, _network_loc(name, other, "subnet"), "overlapping-networks", what=what, fix=fix)


def check_gateways(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A gateway's address is no node's, and overlays are IPv4 throughout."""
    owners = {node.management_address: node.name for node in plan.nodes}
    if plan.provisioning:
        owners[plan.provisioning.host_address] = plan.provisioning.host
    for name, fabric, _, overlay in _overlays(spec, plan):
        if any(":" in (switch.loopback or "") for switch in fabric.switches):
            what = f"fabric {name} has IPv6 loopbacks, and overlays are IPv4 here"
            yield finding(spec, ("fabrics", name, "overlay"), "bad-overlay", what=what, fix="give it IPv4 loopbacks")
        for network in overlay.networks:
            address = (network.gateway or "").partition("/")[0]
            if ":" in address:
                what, fix = f"{network.subnet} is IPv6, and overlays are IPv4 here", "give the network an IPv4 subnet"
                yield finding(spec, _network_loc(name, network), "bad-overlay", what=what, fix=fix)
            elif network.subnet == spec.addressing.management.subnet and address in owners:
                what = f"the gateway of {_title(network)} and {owners[address]} have the same address {address}"
                fix = "give addressing.management a gateway, or a first address behind it"
                yield finding(spec, _network_loc(name, network), "duplicate-address", what=what, fix=fix)


def check_vteps(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Every leaf has a tunnel address, from a pool that nothing else takes from."""
    pools = dict(_pools(spec))
    for name, _, asked, overlay in _overlays(spec, plan):
        loc: Loc = ("fabrics", name, "overlay", "vteps")
        bare = [vtep.switch for vtep in overlay.vteps if vtep.address is None]
        if bare:
            what = f"vteps {asked.vteps.subnet} is too small: {len(overlay.vteps)} leaves need a tunnel address each"
            yield finding(
                spec, loc, "pool-too-small", what=what, have=f"{bare[0]} gets none", fix="give a larger subnet"
            )
        own = ipaddress.ip_network(asked.vteps.subnet)
        for title, subnet in pools.items():
            other = ipaddress.ip_network(subnet)
            if title != f"vteps of fabric {name}" and other.version == own.version and own.overlaps(other):
                what, fix = f"vteps {own} overlaps {title} {other}", "give one of the two another network"
                yield finding(spec, loc, "overlapping-networks", what=what, fix=fix)


def _pools(spec: SiteSpec) -> Iterator[tuple[str, str]]:
    """Yield every pool that addresses of the underlay come from, by what it is."""
    for key in ("bmc", "management", "switches", "loopbacks", "fabric_links"):
        pool = getattr(spec.addressing, key)
        if pool is not None:
            yield f"addressing.{key}", pool.subnet
    for name, fabric in spec.fabrics.items():
        for key, pool in (("links", fabric.links), ("loopbacks", fabric.loopbacks)):
            if pool is not None:
                yield f"{key} of fabric {name}", pool.subnet
        if fabric.overlay is not None:
            yield f"vteps of fabric {name}", fabric.overlay.vteps.subnet


def check_overlay_mtu(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The links between switches have room for a network's packet and what VXLAN puts before it."""
    for name, fabric, _, overlay in _overlays(spec, plan):
        sizes = [network for network in overlay.networks if network.mtu_bytes is not None]
        if fabric.mtu_bytes is None or not sizes:
            continue
        worst = max(sizes, key=lambda network: network.mtu_bytes or 0)
        needed = (worst.mtu_bytes or 0) + VXLAN_BYTES
        if needed > fabric.mtu_bytes:
            what = f"{_title(worst)} sends {worst.mtu_bytes} bytes, and {VXLAN_BYTES} of VXLAN before them"
            have = f"links between switches of fabric {name} pass {fabric.mtu_bytes}"
            fix = f"raise mtu_bytes of the fabric to {needed}, or lower host_mtu_bytes or the network's mtu_bytes"
            yield finding(spec, _network_loc(name, worst, "mtu_bytes"), "mtu-mismatch", what=what, have=have, fix=fix)


# -- ports ------------------------------------------------------------------------------------------------------
def check_port_networks(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A port has one network without a tag at most, each network once, and whose ports carry one is on the fabric."""
    pools = {node.name: node.pool for node in spec.nodes}
    for name, fabric, asked, _ in _overlays(spec, plan):
        devices = {cable.a.device for cable in fabric.cables}
        there = {("pool", pools[device]) if device in pools else ("device", device) for device in devices}
        bare: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        carried: Counter[tuple[str, str, str]] = Counter()
        for loc, owner, title, tagged in _carriers(name, asked):
            carried[(*owner, title)] += 1
            bare[owner] += [] if tagged else [title]
            if owner not in there:
                what, fix = f"{' '.join(owner)} has no port on fabric {name}", "remove it here, or connect its ports"
                yield finding(spec, loc, "port-networks", what=what, fix=fix)
            elif carried[(*owner, title)] > 1:
                what, fix = f"{' '.join(owner)} carries {title} twice", "keep it under untagged or under tagged"
                yield finding(spec, loc, "port-networks", what=what, fix=fix)
            elif not tagged and len(bare[owner]) > 1:
                what = f"{' '.join(owner)} carries {bare[owner][0]} and {title}, both without a tag"
                yield finding(spec, loc, "port-networks", what=what, fix="put one of the two under tagged")


def _carriers(fabric: str, asked: OverlaySpec) -> Iterator[tuple[Loc, tuple[str, str], str, bool]]:
    """Yield where a carrier of a network stands, the pool or device, the network's name, and whether it has tags."""
    for tenant, one in sorted(asked.tenants.items()):
        for name, network in sorted(one.networks.items()):
            loc = ("fabrics", fabric, "overlay", "tenants", tenant, "networks", name)
            for way, ports in (("untagged", network.untagged), ("tagged", network.tagged)):
                for kind, names in (("pools", ports.pools), ("devices", ports.devices)):
                    for index, owner in enumerate(names):
                        yield (*loc, way, kind, index), (kind[:-1], owner), f"{tenant}:{name}", way == "tagged"


def check_relays(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Where DHCP requests are passed on, a gateway does it, to servers that its tenant reaches."""
    for name, fabric, asked, overlay in _overlays(spec, plan):
        for network in overlay.networks:
            wanted = asked.tenants[network.tenant].networks[network.name]
            if wanted.dhcp_relay or wanted.dhcp_servers:
                for what, fix in _unrelayed(overlay, network):
                    yield finding(spec, _network_loc(name, network), "dhcp-relay", what=what, fix=fix)
                if any(switch.network_os == "frr" for switch in fabric.switches):
                    what = f"FRR passes no DHCP on, and {_title(network)} asks for it"
                    fix = "run a DHCP relay beside FRR, or answer requests inside of the network"
                    yield finding(
                        spec, _network_loc(name, network), "dhcp-relay", what=what, fix=fix, severity="warning"
                    )


def check_exits(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A way out of a tenant begins at a router in one of its networks, and leads to what the tenant does not have."""
    for name, _, _, overlay in _overlays(spec, plan):
        own = {(one.tenant, one.vlan): one for one in overlay.networks}
        for tenant in overlay.tenants:
            for index, way in enumerate(tenant.exits):
                loc: Loc = ("fabrics", name, "overlay", "tenants", tenant.name, "exits", index)
                network = own.get((tenant.name, way.vlan or 0))
                inside = next(
                    (one for one in overlay.networks if one.tenant == tenant.name and _covers(one, way)), None
                )
                if network is None or network.gateway is None:
                    what = f"the way out of tenant {tenant.name} to {way.to} is {way.via}, which no network of it has"
                    fix = "give the address that the router has in one of the tenant's networks"
                    yield finding(spec, (*loc, "via"), "tenant-exit", what=what, fix=fix)
                elif network.gateway.partition("/")[0] == way.via:
                    what = (
                        f"the way out of tenant {tenant.name} to {way.to} is {way.via}, which the leaves are themselves"
                    )
                    fix = "give the router an address of its own beside the gateway"
                    yield finding(spec, (*loc, "via"), "tenant-exit", what=what, fix=fix)
                if inside is not None:
                    what = f"the way out of tenant {tenant.name} leads to {way.to}, which {_title(inside)} has"
                    fix = f"take a wider network than {inside.subnet}, or one beside it"
                    yield finding(spec, (*loc, "to"), "tenant-exit", what=what, fix=fix)


def _covers(network: TenantNetworkPlan, way: ExitPlan) -> bool:
    """Tell whether a network has all that a way out leads to."""
    to = ipaddress.ip_network(way.to)
    found = ipaddress.ip_network(network.subnet) if network.subnet else None
    return isinstance(found, ipaddress.IPv4Network) and isinstance(to, ipaddress.IPv4Network) and to.subnet_of(found)


def _unrelayed(overlay: OverlayPlan, network: TenantNetworkPlan) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a network whose DHCP requests are to be passed on, and what to do."""
    if network.gateway is None:
        yield f"{_title(network)} has no gateway to pass DHCP on", "give it a subnet"
    if not network.relays:
        what = f"{_title(network)} passes DHCP on, and the site has no boot services"
        yield what, "add provisioning with its host_address, or give dhcp_servers"
    reached = [
        ipaddress.ip_network(one.subnet) for one in overlay.networks if one.tenant == network.tenant and one.subnet
    ]
    ways = (way for tenant in overlay.tenants if tenant.name == network.tenant for way in tenant.exits)
    reached += [ipaddress.ip_network(way.to) for way in ways]
    for server in network.relays:
        if not any(ipaddress.ip_address(server) in subnet for subnet in reached):
            what = f"{_title(network)} passes DHCP on to {server}, which no network of tenant {network.tenant} has"
            yield what, "put the server into a network of the tenant, or give the tenant a way out (exits)"


# -- switches ---------------------------------------------------------------------------------------------------
def check_overlay_os(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Every switch of an overlay runs a system that its part is written for."""
    for name, fabric, _, _ in _overlays(spec, plan):
        for role, model in dict.fromkeys((switch.role, switch.model) for switch in fabric.switches):
            system = chosen_os(spec.fabrics[name], spec.catalog.switches[model])
            if system not in SYSTEMS:
                what = f"{model} runs {system or 'nothing that the catalog names'}, for which no overlay is written"
                fix = f"take a switch that runs one of {', '.join(SYSTEMS)}, or name one as network_os"
                yield finding(spec, ("fabrics", name, role), "overlay-os", what=what, fix=fix)


OVERLAY_CHECKS = (
    check_vnis,
    check_tenant_vlans,
    check_overlay_pools,
    check_overlay_allocations,
    check_tenant_subnets,
    check_gateways,
    check_vteps,
    check_overlay_mtu,
    check_port_networks,
    check_relays,
    check_exits,
    check_overlay_os,
)
