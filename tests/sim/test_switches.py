"""Two real FRR switches beside any site: configured on trial, kept, taken back, drifted and repaired."""

from __future__ import annotations

import difflib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from coldaisle.check import open_site
from coldaisle.plan.model import SitePlan
from coldaisle.render.digests import play_hosts
from coldaisle.render.frr import switch_config
from coldaisle.verify import read
from sim.fabric import on_switch, remove_sockets, start_switch
from sim.processes import ProcessGroups
from sim.state import State

sys.path.insert(0, str(Path(__file__).parents[2] / "playbooks" / "collections"))
from ansible_collections.coldaisle.site.plugins.plugin_utils.packing import ARGUMENTS, script

SITE = "swtest"
LEAF, SPINE = "leaf01", "spine01"

Answer = dict[str, Any]
Do = Callable[..., Answer]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[State]:
    """Start a leaf and a spine with two cables between them, as from their boxes."""
    state = State(SITE, tmp_path_factory.mktemp("switches") / SITE)
    state.make_folders()
    groups = ProcessGroups(SITE)
    try:
        for name in (LEAF, SPINE):
            _ip(f"netns add {state.namespace(name)}")
            _ip(f"-n {state.namespace(name)} link set lo up")
        for leaf_port, spine_port in (("swp17", "swp1"), ("swp18", "swp2")):
            _ip(
                f"link add {leaf_port} mtu 9216 netns {state.namespace(LEAF)} type veth "
                f"peer {spine_port} mtu 9216 netns {state.namespace(SPINE)}"
            )
            _ip(f"-n {state.namespace(LEAF)} link set {leaf_port} up")
            _ip(f"-n {state.namespace(SPINE)} link set {spine_port} up")
        for name in (LEAF, SPINE):
            start_switch(groups, state, name)
        yield state
    finally:
        groups.stop_all()
        remove_sockets(state)
        for name in (LEAF, SPINE):
            subprocess.run(["ip", "netns", "del", state.namespace(name)], check=False)


@pytest.fixture(scope="module")
def do(two: State) -> Do:
    """Return a function that runs one of the collection's programs on a switch, as Ansible does over SSH."""

    def run(name: str, program: str, **params: object) -> Answer:
        sent = script(program, params, check=bool(params.pop("check", False)))
        words = [*on_switch(two, name), "python3", *ARGUMENTS]
        done = subprocess.run(words, input=sent, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        answer: Answer = json.loads(done.stdout.strip().splitlines()[-1])
        return answer

    return run


@pytest.fixture
def tenants(tmp_path: Path) -> Callable[[int], SitePlan]:
    """Return a function that plans the simulated site with tenants, one network's VLAN as given."""
    root = Path(__file__).parents[2]
    site = tmp_path / "sim"
    shutil.copytree(root / "inventory" / "sim", site)
    shutil.copytree(root / "inventory" / "catalog", tmp_path / "catalog")
    text = (root / "tests/cases/good/tenants/fabrics.yaml").read_text()

    def planned(vlan: int) -> SitePlan:
        (site / "fabrics.yaml").write_text(text.replace("vlan: 300", f"vlan: {vlan}"))
        return open_site(site).plan

    return planned


def test_a_changed_vlan_is_one_line_of_each_leaf(tenants: Callable[[int], SitePlan], do: Do) -> None:
    """Tenants' configurations are shown as they were written; another VLAN changes one line, where its network is."""
    one, other = tenants(300), tenants(301)
    for switch, device in (("inband-leaf01", LEAF), ("inband-spine01", SPINE)):
        answer = _apply(do, device, switch_config(one, "inband", switch))
        assert answer.get("changed"), answer["msg"]
    assert _try(do, LEAF, switch_config(other, "inband", "inband-leaf01"), check=True)["sections"] == [
        "router bgp 65201"
    ]
    assert _changed_lines(one, other, "fabric-inband") == {
        "inband-leaf01": {
            "- address-family l2vpn evpn: vni 10300: rd 198.18.65.1:300",
            "+ address-family l2vpn evpn: vni 10300: rd 198.18.65.1:301",
        },
        "inband-leaf02": {
            "- address-family l2vpn evpn: vni 10300: rd 198.18.65.2:300",
            "+ address-family l2vpn evpn: vni 10300: rd 198.18.65.2:301",
        },
    }


@pytest.fixture(scope="module")
def configured(plan: SitePlan, two: State, do: Do) -> State:
    """Give both switches the plan's configuration, and wait for their session."""
    for name in (LEAF, SPINE):
        assert _apply(do, name, switch_config(plan, "compute", name))["changed"]
    _wait(lambda: _sessions(two) == {"198.18.143.255": "Established"})
    return two


def test_a_switch_shows_what_was_planned_and_keeps_it(plan: SitePlan, configured: State, do: Do) -> None:
    """Each planned section is read back as planned, a second run changes nothing, and the disk has it."""
    planned = {name: text for name, text in play_hosts(plan)["fabric-compute"][LEAF].items() if name.startswith("conf")}
    assert do(LEAF, "read", facts=list(planned)) == {"changed": False, "facts": planned, "errors": {}}
    assert not _try(do, LEAF, switch_config(plan, "compute", LEAF))["changed"]
    assert "neighbor 198.18.143.255 remote-as 65100" in (configured.switches / LEAF / "etc/frr.conf").read_text()


def test_a_change_by_hand_is_named_and_repaired(plan: SitePlan, configured: State, do: Do) -> None:
    """A changed line and a section of somebody else show as drift; the next run takes both back."""
    text = switch_config(plan, "compute", LEAF)
    _by_hand(configured, "interface swp17", "description mine")
    _by_hand(configured, "route-map MINE permit 10", "set metric 5")
    seen = do(LEAF, "read", facts=["config.interface swp17", "config_sections"])["facts"]
    assert seen["config.interface swp17"] == "description mine\nip address 198.18.143.254/31"
    assert "route-map MINE permit 10" in seen["config_sections"]
    assert _try(do, LEAF, text, check=True)["sections"] == ["interface swp17", "route-map MINE permit 10"]
    assert _apply(do, LEAF, text, keep_extra=True)["changed"]
    assert "route-map MINE permit 10" in do(LEAF, "read", facts=["config_sections"])["facts"]["config_sections"]
    assert _apply(do, LEAF, text)["changed"]
    assert "MINE" not in _vtysh(configured, "show running-config")
    assert not _try(do, LEAF, text)["changed"]


def test_what_nobody_confirms_is_taken_back(plan: SitePlan, configured: State, do: Do) -> None:
    """The timer restores the old configuration, and keeping it afterwards is refused."""
    changed = switch_config(plan, "compute", LEAF).replace("description spine01 swp1", "description elsewhere")
    token = _try(do, LEAF, changed, timer_s=2)["token"]
    assert "elsewhere" in _vtysh(configured, "show running-config")
    _wait(lambda: "elsewhere" not in _vtysh(configured, "show running-config"))
    _wait(lambda: not (configured.switches / LEAF / "etc/coldaisle/pending").exists())
    answer = do(LEAF, "switch", system="frr", token=token, sessions_s=1)
    assert (answer["failed"], answer["msg"]) == (
        True,
        "the trial's time ran out, and the switch has taken its old configuration back",
    )


def test_a_change_that_loses_a_session_is_taken_back(plan: SitePlan, configured: State, do: Do) -> None:
    """With a wrong autonomous system the session cannot come back: the change fails and is undone at once."""
    wrong = switch_config(plan, "compute", LEAF).replace("remote-as 65100", "remote-as 65199")
    answer = _apply(do, LEAF, wrong)
    assert answer["failed"]
    assert answer["msg"].startswith("sessions that were up did not come back: 198.18.143.255"), answer
    _wait(lambda: _sessions(configured) == {"198.18.143.255": "Established"})


def test_a_line_that_frr_refuses_changes_nothing(plan: SitePlan, configured: State, do: Do) -> None:
    """A line that FRR does not know fails the trial, and the old configuration stays."""
    before = _vtysh(configured, "show running-config")
    wrong = switch_config(plan, "compute", LEAF).replace(" bgp router-id", " bgp nonsense 7\n bgp router-id")
    answer = _apply(do, LEAF, wrong)
    assert answer["failed"], answer
    assert _vtysh(configured, "show running-config") == before


def test_neighbours_see_each_other(configured: State) -> None:
    """LLDP on the leaf names the spine and its port, in the form that `coldaisle verify cabling` reads."""

    def seen() -> set[tuple[str, str, str]]:
        command = [*on_switch(configured, LEAF), "lldpcli", "-f", "json", "show", "neighbors"]
        said = subprocess.run(command, capture_output=True, check=True).stdout
        assert said.count(b'"ifname"') == said.count(b'"port": {'), "ports are told by their names"
        found = read(said, "leaf01.json", LEAF).neighbours
        return {(each.local.port_label, each.remote.label, each.remote.port_label) for each in found}

    _wait(lambda: ("swp17", SPINE, "swp1") in seen())


def test_a_restart_keeps_the_configuration(plan: SitePlan, configured: State, do: Do) -> None:
    """A switch that starts anew has what it was told to keep."""
    groups = ProcessGroups(SITE)
    for daemon in ("zebra", "bgpd"):
        groups.stop(f"{LEAF}-{daemon}")
    start_switch(groups, configured, LEAF)
    assert not _try(do, LEAF, switch_config(plan, "compute", LEAF))["changed"]


def _try(do: Do, name: str, config: str, **more: object) -> Answer:
    return do(
        name, "switch", **{"system": "frr", "config": config, "keep_extra": False, "timer_s": 60, "token": ""} | more
    )


def _apply(do: Do, name: str, config: str, **more: object) -> Answer:
    """Try a configuration and keep it, as the role does."""
    answer = _try(do, name, config, **more)
    return do(name, "switch", system="frr", token=answer["token"], sessions_s=5) if answer.get("token") else answer


def _changed_lines(one: SitePlan, other: SitePlan, play: str) -> dict[str, set[str]]:
    """Return the lines of sections that go and come, by switch."""
    found: dict[str, set[str]] = {}
    for switch, facts in play_hosts(other)[play].items():
        before = play_hosts(one)[play][switch]
        lines = difflib.ndiff(_lines(before), _lines(facts))
        if changed := {line for line in lines if line[:2] in {"- ", "+ "}}:
            found[switch] = changed
    return found


def _lines(facts: Mapping[str, object]) -> list[str]:
    return [line for name, text in facts.items() if name.startswith("config.") for line in str(text).splitlines()]


def _vtysh(state: State, *commands: str) -> str:
    words = [word for command in commands for word in ("-c", command)]
    return subprocess.run([*on_switch(state, LEAF), "vtysh", *words], capture_output=True, text=True, check=True).stdout


def _by_hand(state: State, *lines: str) -> None:
    _vtysh(state, "configure terminal", *lines)


def _sessions(state: State) -> dict[str, str]:
    found = json.loads(_vtysh(state, "show bgp summary json"))["ipv4Unicast"]["peers"]
    return {peer: value["state"] for peer, value in found.items() if value["state"] == "Established"}


def _wait(true: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"it did not happen within {seconds} s"
        time.sleep(0.3)


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True)
