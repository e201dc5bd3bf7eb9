"""The sessions and routes that a plan promises, against those that switches and the kernel have. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address

from coldaisle.render.overlay import switch_overlays
from sim.twin.cables import Joint
from sim.twin.paths import Graph
from sim.twin.records import Check, check
from sim.twin.topology import Twin

Session = tuple[str, str]
"""A switch, and its neighbour as FRR names it: an address, or the own port where links have none."""

Route = tuple[str, str]
"""A switch, and a network that it has a route to."""


def planned_sessions(twin: Twin) -> dict[Session, Joint]:
    """Return the planned BGP sessions: one at each end of every cable between switches, with the cable from there."""
    planned = {}
    for cable in twin.uplinks:
        for joint, far in ((Joint(cable.a, cable.b), cable.b_address), (Joint(cable.b, cable.a), cable.a_address)):
            peer = joint.a.port if twin.fabric.unnumbered else (far or "no address").partition("/")[0]
            planned[joint.a.device, peer] = joint
    return planned


def sessions_check(wanted: Mapping[Session, Joint], seen: Mapping[Session, str]) -> Check:
    """Compare sessions with those that are planned; a session has two ends, and both count."""
    bad = {key: seen.get(key, "not configured") for key in wanted if seen.get(key) != "Established"}
    details = tuple(f"{_named(wanted[key])} ({key[1]}): {state}" for key, state in bad.items())
    words = f"of {len(wanted)} ends of BGP sessions are up"
    return check("sessions", f"{len(wanted)} {words}", f"{len(wanted) - len(bad)} {words}", details)


def planned_overlay_sessions(twin: Twin) -> dict[Session, str]:
    """Return the planned EVPN sessions at both ends, with the name of the other switch; none without an overlay."""
    overlays = switch_overlays(twin.fabric)
    return {(name, peer.address): peer.name for name, own in overlays.items() for peer in own.neighbors}


def overlay_check(wanted: Mapping[Session, str], seen: Mapping[Session, str]) -> Check:
    """Compare EVPN sessions with those that are planned."""
    bad = {key: seen.get(key, "not configured") for key in wanted if seen.get(key) != "Established"}
    details = tuple(f"{switch} to {wanted[switch, peer]} ({peer}): {state}" for (switch, peer), state in bad.items())
    words = f"of {len(wanted)} ends of EVPN sessions are up"
    return check("overlay-sessions", f"{len(wanted)} {words}", f"{len(wanted) - len(bad)} {words}", details)


def _named(joint: Joint) -> str:
    return f"{joint.a.device}:{joint.a.port} to {joint.b.device}:{joint.b.port}"


def leaf_networks(twin: Twin) -> dict[str, list[str]]:
    """Return the networks that each leaf announces: its loopback, its tunnel address, and links of hosts that run."""
    overlays = switch_overlays(twin.fabric)
    networks: dict[str, list[str]] = {}
    for switch in twin.fabric.switches:
        if switch.role == "leaf" and switch.loopback:
            address = ip_address(switch.loopback)
            networks[switch.name] = [f"{address}/{address.max_prefixlen}"]
            if (overlay := overlays.get(switch.name)) and overlay.vtep:
                networks[switch.name].append(f"{overlay.vtep}/32")
    for endpoint in twin.endpoints:
        networks[endpoint.leaf].append(endpoint.network)
    return {leaf: list(dict.fromkeys(own)) for leaf, own in networks.items()}


def planned_paths(twin: Twin) -> dict[Route, int]:
    """Return how many equal paths each switch has to each network of another leaf."""
    graph = Graph(twin.fabric)
    most = twin.fabric.bgp.maximum_paths if twin.fabric.bgp else 1
    return {
        (switch, network): min(count, most)
        for leaf, own in leaf_networks(twin).items()
        for switch, count in graph.equal_paths(leaf).items()
        for network in own
        if count
    }


def differing(wanted: Mapping[Route, int], seen: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str]]:
    """Return the routes, as switch and network, that have another number of paths than planned."""
    return [(switch, network) for (switch, network), count in wanted.items() if seen[switch].get(network, 0) != count]


def paths_check(wanted: Mapping[Route, int], seen: Mapping[str, Mapping[str, int]]) -> Check:
    """Compare how many paths the kernel has to each network with how many are planned."""
    bad = differing(wanted, seen)
    details = tuple(
        f"{switch} has {seen[switch].get(network, 0)} of {wanted[switch, network]} paths to {network}"
        for switch, network in bad
    )
    words = f"of {len(wanted)} routes have the planned number of equal paths"
    return check("equal-paths", f"{len(wanted)} {words}", f"{len(wanted) - len(bad)} {words}", details)
