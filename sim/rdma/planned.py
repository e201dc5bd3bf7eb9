"""What the plan says of RDMA on a node: a VLAN on a bond, with an address, an MTU and a class of traffic. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from coldaisle.plan.host_side import host_side
from coldaisle.plan.model import BondPlan, NodePlan, SitePlan
from coldaisle.render.files import bare_address
from sim.errors import SimError

NEEDS = "two nodes with RoCE, each with a bond, and on it a VLAN with an address of the same network"
FIX = (
    "give a fabric `bond`, a network of its overlay these nodes' pools under `tagged` and `node_addresses: true`, "
    "and the pools `rdma: {mode: roce}` (docs/rdma-lab.md)"
)
IP_UDP_ROCE_BYTES = 20 + 8 + 12 + 16 + 4
"""What a packet of RoCE v2 has beside its data: IPv4, UDP, base header, RDMA header, check sum (IBTA)."""

RDMA_MTUS = (4096, 2048, 1024, 512, 256)
"""The sizes that a queue pair can have, in bytes of data a packet (IBTA)."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """
    Where a node's RDMA traffic ends.

    `interface` is the VLAN's, `network` the tenant's network, `address` without its prefix length, `mtu_bytes` that of
    the VLAN, and `dscp` the class that data is marked with.
    """

    host: str
    interface: str
    network: str
    vlan: int
    address: str
    mtu_bytes: int
    dscp: int
    bond: BondPlan

    @property
    def traffic_class(self) -> int:
        """Return the class as applications give it: the DSCP is the upper six bits of the byte (RFC 2474)."""
        return self.dscp << 2

    @property
    def rdma_mtu(self) -> int:
        """Return the largest size of data that fits into a packet, with all headers around it."""
        return next(size for size in RDMA_MTUS if size + IP_UDP_ROCE_BYTES <= self.mtu_bytes)

    @property
    def device(self) -> str:
        """Return whose the RDMA device is: the bond's, since neither members nor VLANs have one."""
        return self.bond.name

    @property
    def layers(self) -> dict[str, int]:
        """Return the planned MTU of each layer in bytes: the ports, the bond, the VLAN."""
        return {
            **dict.fromkeys(self.bond.ports, self.bond.mtu_bytes),
            self.bond.name: self.bond.mtu_bytes,
            self.interface: self.mtu_bytes,
        }


def endpoints_of(plan: SitePlan, node: NodePlan) -> Iterator[Endpoint]:
    """Yield a node's VLANs on bonds that carry RoCE, but not of a bond with the port that it boots from."""
    pool = next(pool for pool in plan.pools if pool.name == node.pool)
    side = host_side(plan, node.name)
    bonds = {bond.name: bond for bond in side.bonds if node.boot_nic not in bond.ports}
    for one in side.interfaces:
        bond = bonds.get(one.parent or "")
        if bond and one.address and one.vlan is not None and pool.rdma and pool.rdma.dscp is not None:
            yield Endpoint(
                host=node.name,
                interface=one.name,
                network=one.network,
                vlan=one.vlan,
                address=bare_address(one.address),
                mtu_bytes=one.mtu_bytes,
                dscp=pool.rdma.dscp,
                bond=bond,
            )


def choose(plan: SitePlan, wanted: tuple[str, ...]) -> tuple[Endpoint, Endpoint]:
    """
    Return the two ends that are proved: of the nodes that are named, else of the plan's first two that can.

    Raises:
        SimError: there are no such two.
    """
    known = {node.name for node in plan.nodes}
    for name in wanted:
        if name not in known:
            raise SimError(f"node {name}", "there is no such node", f"the plan has {len(known)}", "name one of them")
    networks: defaultdict[str, list[Endpoint]] = defaultdict(list)
    for node in plan.nodes:
        if not wanted or node.name in wanted:
            for one in endpoints_of(plan, node):
                networks[one.network].append(one)
    for found in networks.values():
        if len(found) > 1:
            return found[0], found[1]
    have = ", ".join(f"{name}: {found[0].host} only" for name, found in networks.items()) or "no such node"
    raise SimError(plan.name, f"it needs {NEEDS}", have, FIX)
