"""
What a hall is made of: some nodes of a site's plan, with the keys, passwords and addresses of the hall.

The hall is a plan itself, so that inventory, plays, wires and BMCs follow from it as they do for any site.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from coldaisle.plan.model import CablePlan, FabricPlan, NodePlan, PlayPlan, PoolPlan, SitePlan
from coldaisle.plan.plays import PLAYBOOKS, plan_plays
from sim.errors import SimError
from sim.machines import Kind
from sim.network import BMC_DEVICE, INTERFACE_CHARS, OOB_MTU_BYTES, Link, Port, Wiring, oob_switch, wiring
from sim.state import State

DEPLOY = "deploy"
"""The namespace that plays the deploy host: commands which are to reach the hall run in it."""

PORTS_A_BRIDGE = 1_000
"""A Linux bridge has 1,024 ports (BR_MAX_PORTS): some of them lead to its neighbours."""

OOB_PREFIX_LENGTH = 16
"""One network of BMCs and one of hosts, each as large as a hall may need."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which part of a site a hall has: the first `hosts` nodes (None: all), each of the kind that its pool has here."""

    hosts: int | None = None
    kind: Kind = "light"
    pools: Mapping[str, Kind] | None = None

    def kind_of(self, node: NodePlan) -> Kind:
        """Return the kind of machine that stands for a node."""
        return (self.pools or {}).get(node.pool, self.kind)


def hall_name(site: str) -> str:
    """Return the name of a site's hall, so that both may run side by side."""
    return f"{site}-hall"


def hall_plan(plan: SitePlan, state: State, wanted: Wanted) -> SitePlan:
    """
    Return the plan of a hall: nodes that are installed, without provisioner, cluster and the switches' configurations.

    Raises SimError where the site has fewer nodes than are wanted, or no pool of a name.
    """
    unknown = sorted(set(wanted.pools or {}) - {pool.name for pool in plan.pools})
    if unknown:
        have = ", ".join(pool.name for pool in plan.pools)
        raise SimError(plan.name, f"there is no pool {unknown[0]}", f"pools: {have}", "name one of them")
    if wanted.hosts is not None and not 1 <= wanted.hosts <= len(plan.nodes):
        fix = "ask for fewer, or write a spec of more: coldaisle sim hall spec FOLDER --nodes N"
        raise SimError(plan.name, f"{wanted.hosts} hosts are asked for", f"{len(plan.nodes)} nodes", fix)
    nodes = tuple(_node(node, state) for node in plan.nodes[: wanted.hosts])
    names = {node.name for node in nodes}
    found = replace(
        plan,
        name=hall_name(plan.name),
        nodes=nodes,
        pools=tuple(_pool(pool, state) for pool in plan.pools),
        fabrics={name: _fabric(fabric, names) for name, fabric in plan.fabrics.items()},
        cluster=None,
        provisioning=None,
        plays=(),
        admin_private_key_file=str(state.ssh_key),
    )
    return replace(found, plays=_plays(found))


def _plays(plan: SitePlan) -> tuple[PlayPlan, ...]:
    """Return the plays of the pools in their order; a hall has none of those of the provisioner and of switches."""
    plays = [play for play in plan_plays(plan) if play.playbook in PLAYBOOKS]
    names = {play.name for play in plays}
    return tuple(replace(play, after=tuple(name for name in play.after if name in names)) for play in plays)


def _node(node: NodePlan, state: State) -> NodePlan:
    credentials, ca_file = f"file:{state.bmc_credentials}", str(state.pki / "ca.crt")
    bmc = replace(node.bmc, credentials=credentials, ca_file=ca_file) if node.bmc else None
    return replace(node, boot="image-installed", bmc=bmc)


def _pool(pool: PoolPlan, state: State) -> PoolPlan:
    keys = str(state.ssh_key.with_suffix(".pub"))
    return replace(pool, os=replace(pool.os, admin_authorized_keys_file=keys))


def _fabric(fabric: FabricPlan, nodes: set[str]) -> FabricPlan:
    """Return a fabric with the cables of the hall's nodes only; where they end, a switch without software stands."""
    return replace(fabric, cables=tuple(cable for cable in fabric.cables if _ends(cable) & nodes), bonds=())


def _ends(cable: CablePlan) -> set[str]:
    return {cable.a.device, cable.b.device}


def hall_wiring(plan: SitePlan) -> Wiring:
    """
    Return the wires of a hall.

    They are those of a site, but nothing of it is joined to this machine: the deploy host is a namespace too. The
    out-of-band port of a light host has its address from the start, since nobody answers DHCP.
    """
    oob = oob_switch(plan)
    hosts = {node.name: node for node in plan.nodes}
    ports = Port(DEPLOY, "oob0", addresses=deploy_addresses(plan)), Port(oob, DEPLOY, bridge="br0")
    links = [Link(*ports, OOB_MTU_BYTES)]
    links += [
        _addressed(plan, link)
        for link in wiring(plan).links
        if link.a.device in {BMC_DEVICE, *hosts} or link.b.device in hosts
    ]
    bridges = 1 + sum(link.b.device == oob for link in links) // PORTS_A_BRIDGE
    return Wiring(
        devices=tuple(dict.fromkeys([oob, DEPLOY, *(end.device for link in links for end in (link.a, link.b))])),
        bridges=tuple((oob, f"br{at}", OOB_MTU_BYTES) for at in range(bridges)),
        links=(*_spread(oob, links), *_joined(oob, bridges)),
        taps=(),
    )


def _spread(oob: str, links: list[Link]) -> Iterator[Link]:
    """
    Yield links with the ports of the out-of-band switch on as many bridges as they need.

    What are several switches in the plan is one here, where a second port of a name has a number. Its networks have
    IPv4 only: what the kernel of each host says to all its neighbours by IPv6 would reach thousands.
    """
    at, seen = count(), set[str]()
    for link in links:
        if link.b.device != oob:
            yield link
            continue
        number, name = next(at), link.b.name
        name = f"{name}-{number}"[:INTERFACE_CHARS] if name in seen else name
        seen.add(name)
        yield replace(link, b=replace(link.b, name=name, bridge=f"br{number // PORTS_A_BRIDGE}", multicast=False))


def _joined(oob: str, bridges: int) -> Iterator[Link]:
    """Yield the links that make one network of the bridges: each has one to the first."""
    for at in range(1, bridges):
        ends = Port(oob, f"trunk{at}a", bridge="br0"), Port(oob, f"trunk{at}b", bridge=f"br{at}")
        yield Link(*ends, OOB_MTU_BYTES)


def _addressed(plan: SitePlan, link: Link) -> Link:
    """Give the end of an out-of-band link its addresses, as wide as the hall's networks: of a host, or of all BMCs."""
    found: dict[str, tuple[str, ...]] = {node.name: (_wide(node.management_address),) for node in plan.nodes}
    found[BMC_DEVICE] = tuple(_wide(node.bmc.address) for node in plan.nodes if node.bmc)
    if link.a.device not in found or link.b.device != oob_switch(plan):
        return link
    return replace(link, a=replace(link.a, addresses=found[link.a.device]))


def _wide(address: str) -> str:
    return f"{address.split('/', maxsplit=1)[0]}/{OOB_PREFIX_LENGTH}"


def deploy_addresses(plan: SitePlan) -> tuple[str, ...]:
    """Return the deploy host's addresses: the last of each network of BMCs and of hosts."""
    addresses = [node.bmc.address for node in plan.nodes if node.bmc]
    addresses += [node.management_address for node in plan.nodes]
    networks = {ipaddress.ip_interface(_wide(address)).network for address in addresses}
    return tuple(f"{network.broadcast_address - 1}/{OOB_PREFIX_LENGTH}" for network in sorted(networks))
