"""Address tables: every address that the plan hands out, by device and port, with what is at the other end."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.plan import plan_hash
from coldaisle.plan.host_side import fabric_side
from coldaisle.plan.model import End, FabricPlan, NodePlan, SitePlan, SwitchPlan
from coldaisle.render.fabric.listing import Listing, Row, fabrics_of

COLUMNS = ("device", "kind", "fabric", "port", "address", "mac", "asn", "peer", "peer_port")


def address_table(plan: SitePlan, fabric: str | None = None) -> Listing:
    """
    Return the addresses of a fabric, or of all with those of BMCs and of boot ports that no fabric takes.

    Raises:
        LookupError: there is no such fabric.
    """
    fabrics = list(fabrics_of(plan, fabric))
    peers = {end: far for one in plan.fabrics.values() for end, far in _ends(one)}
    rows = [row for one in fabrics for row in _of_fabric(one)]
    for node in plan.nodes:
        rows += _of_node(node, peers, fabric)
        rows += [row for one in fabrics for row in _of_side(node, one)]
    return Listing("addresses", plan.name, plan_hash(plan), COLUMNS, tuple(rows), grouped=True)


def _ends(fabric: FabricPlan) -> Iterator[tuple[End, End]]:
    for cable in fabric.cables:
        yield cable.a, cable.b
        yield cable.b, cable.a


def _of_fabric(fabric: FabricPlan) -> Iterator[Row]:
    """
    Yield the addresses of each switch: loopback, management port, tunnels, then its links in the plan's order.

    The gateways of tenants' networks, which many leaves are, come last, by network.
    """
    links: dict[str, list[Row]] = {switch.name: [] for switch in fabric.switches}
    for cable in fabric.cables:
        for near, far, address in ((cable.a, cable.b, cable.a_address), (cable.b, cable.a, cable.b_address)):
            if address and near.device in links:
                kind = "switch", fabric.name, near.port, address, None, None, far.device, far.port
                links[near.device].append((near.device, *kind))
    overlay = fabric.overlay
    tunnels = {vtep.switch: vtep.address for vtep in overlay.vteps} if overlay else {}
    for switch in fabric.switches:
        yield from _own(fabric, switch)
        if tunnels.get(switch.name):
            yield switch.name, "switch", fabric.name, "vtep", tunnels[switch.name], None, None, None, None
        yield from links[switch.name]
    for network in overlay.networks if overlay else ():
        if network.gateway:
            name, port = f"{network.tenant}:{network.name}", f"vlan{network.vlan}"
            mac = overlay.gateway_mac if overlay else None
            yield name, "gateway", fabric.name, port, network.gateway, mac, None, None, None


def _own(fabric: FabricPlan, switch: SwitchPlan) -> Iterator[Row]:
    if switch.loopback:
        yield switch.name, "switch", fabric.name, "loopback", switch.loopback, None, switch.asn, None, None
    if switch.management_address:
        address = f"{switch.management_address}/{switch.management_prefix_length}"
        port = switch.management_port or "management"
        yield switch.name, "switch", fabric.name, port, address, None, None, None, None


def _of_node(node: NodePlan, peers: dict[End, End], fabric: str | None) -> Iterator[Row]:
    for nic in node.nics:
        if nic.address and fabric in {None, nic.fabric}:
            far = peers.get(End(device=node.name, port=nic.name))
            peer = (far.device, far.port) if far else (None, None)
            yield node.name, "node", nic.fabric or None, nic.name, nic.address, nic.mac, None, *peer
    if node.bmc and fabric is None:
        yield node.name, "bmc", None, "bmc", node.bmc.address, node.bmc.mac, None, None, None


def _of_side(node: NodePlan, fabric: FabricPlan) -> Iterator[Row]:
    """Yield the addresses of a node's bond on a fabric, and of its interfaces on tenants' networks."""
    side = fabric_side(fabric, node.name)
    macs = {bond.name: bond.mac for bond in side.bonds} | {nic.name: nic.mac for nic in node.nics}
    for bond in side.bonds:
        if bond.address:
            yield node.name, "node", fabric.name, bond.name, bond.address, bond.mac, None, None, None
    for interface in side.interfaces:
        if interface.address:
            mac = macs.get(interface.parent or interface.name)
            yield node.name, "node", fabric.name, interface.name, interface.address, mac, None, None, None
