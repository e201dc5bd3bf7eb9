"""The plan and the wires of a hall, without starting one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.paths import expand_home
from coldaisle.plan.model import SitePlan
from coldaisle.render.ansible import inventory
from sim.errors import SimError
from sim.hall import spec
from sim.hall.kinds import hall_kind
from sim.hall.plan import DEPLOY, Wanted, hall_plan, hall_wiring
from sim.hall.site import state_of
from sim.network import ROOT
from sim.state import HALL_MARK, State


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SitePlan:
    """Return the plan of a site of 300 light hosts, which has no errors."""
    checked = open_site(spec.write(tmp_path_factory.mktemp("hall"), 300))
    assert checked.errors == ()
    return checked.plan


@pytest.fixture
def hall_state(tmp_path: Path) -> State:
    """Return the state of a hall that is not up."""
    return State("hall-hall", tmp_path, HALL_MARK)


def test_every_host_of_a_large_hall_has_an_address_of_its_own(site: SitePlan, hall_state: State) -> None:
    """More than 256 hosts are in one network with the deploy host, and no address is given twice."""
    wires = hall_wiring(hall_plan(site, hall_state, Wanted()))
    addresses = [address for link in wires.links for end in (link.a, link.b) for address in end.addresses]
    assert len(addresses) == len(set(addresses)) == 300 + 300 + 2
    assert {address.partition("/")[2] for address in addresses} == {"16"}


def test_nothing_of_a_hall_is_on_this_machines_network(site: SitePlan, hall_state: State) -> None:
    """No port is outside of the hall's namespaces: the deploy host is one too."""
    wires = hall_wiring(hall_plan(site, hall_state, Wanted(hosts=3)))
    assert ROOT not in {end.device for link in wires.links for end in (link.a, link.b)}
    assert set(wires.devices) == {"oob01", DEPLOY, "bmc", "leaf01", "r01-n01", "r01-n02", "r01-n03"}
    assert wires.routes == ()


@pytest.mark.parametrize(("state", "folder"), [("", "~/.local/state"), ("/srv/state", "/srv/state")])
def test_the_spec_names_keys_where_the_hall_makes_them(
    state: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """State may lie elsewhere; below the home folder, the spec is the same for everybody."""
    monkeypatch.setenv("XDG_STATE_HOME", state)
    key = spec.sections(1, "floor")["site"]["admin_key_file"]
    assert key == f"{folder}/coldaisle/floor-hall/keys/id_ed25519"
    assert expand_home(key) == state_of("floor").ssh_key


def test_a_hall_has_its_own_keys_and_passwords(site: SitePlan, hall_state: State) -> None:
    """Nothing of the site that the plan is of is used to log in."""
    plan = hall_plan(site, hall_state, Wanted(hosts=2))
    hosts = inventory(plan)["all"]["hosts"]
    assert sorted(hosts) == ["r01-n01", "r01-n02"]
    for found in hosts.values():
        assert found["ansible_ssh_private_key_file"] == str(hall_state.ssh_key)
        assert found["bmc_access"]["credentials"] == f"file:{hall_state.bmc_credentials}"
    assert {play.playbook for play in plan.plays} == {"bmc", "os", "gpu", "verify"}


def test_the_hall_of_the_simulated_site_turns_guests_into_what_is_asked_for(plan: SitePlan, hall_state: State) -> None:
    """Nodes that boot over the network have no guest here, and each pool may have a kind of its own."""
    wanted = Wanted(kind="light", pools={"light": "board"})
    found = hall_plan(plan, hall_state, wanted)
    assert [wanted.kind_of(node) for node in found.nodes] == ["light", "board", "light", "board"]
    assert hall_wiring(found).taps == ()


def test_what_a_site_does_not_have_is_said(site: SitePlan, hall_state: State) -> None:
    """More hosts than nodes, a pool that is none, and a kind that is none name what there is."""
    with pytest.raises(SimError, match="have: 300 nodes"):
        hall_plan(site, hall_state, Wanted(hosts=301))
    with pytest.raises(SimError, match="pools: light"):
        hall_plan(site, hall_state, Wanted(pools={"dark": "board"}))
    with pytest.raises(SimError, match="kinds: container, light, board"):
        hall_kind("guest")


def test_a_hall_of_thousands_has_as_many_bridges_as_it_needs(tmp_path: Path, hall_state: State) -> None:
    """No bridge has more ports than Linux gives it, all are one network, and no port's name is given twice."""
    found = open_site(spec.write(tmp_path, 1_100))
    assert found.errors == ()
    wires = hall_wiring(hall_plan(found.plan, hall_state, Wanted()))
    ports = [end for link in wires.links for end in (link.a, link.b) if end.device == "oob01"]
    assert len({port.name for port in ports}) == len(ports) == 2 + 1_100 + 2
    on = Counter(port.bridge for port in ports)
    assert on.keys() == {name for _, name, _ in wires.bridges} == {"br0", "br1"}
    assert max(on.values()) <= 1_024
    trunks = [(link.a.bridge, link.b.bridge) for link in wires.links if link.a.device == link.b.device]
    assert trunks == [("br0", "br1")]


def test_a_spec_of_too_many_nodes_is_refused() -> None:
    """The processes of the BMCs have no more ports."""
    with pytest.raises(ValueError, match="1 to 5000"):
        spec.sections(5_001, "hall")
