"""The wires that follow from a plan."""

from __future__ import annotations

from coldaisle.plan.model import SitePlan
from sim.network import INTERFACE_CHARS, ROOT, _link_command, _port_commands, by_device, wiring


def test_every_cable_of_the_plan_is_a_link_or_a_bmc(plan: SitePlan) -> None:
    """Each cable has its own link, but for those of BMCs, which share the port of their process."""
    cables = [cable for fabric in plan.fabrics.values() for cable in fabric.cables]
    bmc_cables = [cable for cable in cables if "bmc" in (cable.a.port, cable.b.port)]
    beside_the_plan = 3  # this machine, the BMCs, the control plane
    assert len(wiring(plan).links) == len(cables) - len(bmc_cables) + beside_the_plan


def test_no_port_is_used_twice_and_names_fit_the_kernel(plan: SitePlan) -> None:
    """A port has one cable, and its name fits in an interface name."""
    ends = [(end.device, end.name) for link in wiring(plan).links for end in (link.a, link.b)]
    assert len(ends) == len(set(ends))
    assert max(len(name) for _, name in ends) <= INTERFACE_CHARS


def test_a_guest_gets_a_tap_and_a_bridge_for_each_port(plan: SitePlan) -> None:
    """A guest's port is a tap that is bridged to the cable, and its rail ports take jumbo frames."""
    wires = wiring(plan)
    taps = {tap.name: tap for tap in wires.taps if tap.device == "r01-n01"}
    assert {name: tap.mtu_bytes for name, tap in taps.items()} == {"mgmt0": 1500, "rail0": 9216, "rail1": 9216}
    outer = [end.bridge for link in wires.links for end in (link.a, link.b) if end.device == "r01-n01"]
    assert sorted(bridge for bridge in outer if bridge) == sorted(tap.bridge for tap in taps.values())


def test_a_light_host_has_the_planned_mac_on_its_own_port(plan: SitePlan) -> None:
    """A container's port is the end of the cable itself, with the MAC of the plan, so that DHCP knows it."""
    node = next(node for node in plan.nodes if node.name == "r01-n02")
    ends = {end.name: end for link in wiring(plan).links for end in (link.a, link.b) if end.device == node.name}
    assert {name: end.mac for name, end in ends.items()} == {nic.name: nic.mac for nic in node.nics}


def test_this_machine_has_one_port_with_the_first_address_of_each_network(plan: SitePlan) -> None:
    """The deploy host reaches BMCs and hosts through one port, whose name says the site."""
    (port,) = [end for link in wiring(plan).links for end in (link.a, link.b) if end.device == ROOT]
    assert (port.name, port.addresses) == ("ca-sim0", ("198.18.0.1/24", "198.18.1.1/24"))


def test_link_commands_put_each_end_into_its_namespace(plan: SitePlan) -> None:
    """One command makes both ends where they belong; an end without a device stays on this machine."""
    commands = {_link_command("ca-sim-", link) for link in wiring(plan).links}
    assert (
        "link add name rail0 netns ca-sim-r01-n02 mtu 9216 address 52:54:00:01:02:02 type veth "
        "peer name swp2 netns ca-sim-leaf01 mtu 9216" in commands
    )
    assert any(command.startswith("link add name ca-sim0 mtu 1500 type veth peer name deploy") for command in commands)


def test_a_second_call_brings_nothing_up(plan: SitePlan) -> None:
    """Without new links nothing is touched, so a cable that a fault has cut stays cut."""
    assert _port_commands("leaf01", [], []) == []
    ends = by_device(end for link in wiring(plan).links for end in (link.a, link.b))
    assert "link set swp1 up" in _port_commands("leaf01", ends["leaf01"], [])
