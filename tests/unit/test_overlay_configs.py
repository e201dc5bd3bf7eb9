"""Overlays in configurations: every system says what the plan says, sessions have both ends, and FRR takes its own."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no types of its own
import pytest
import yaml

from coldaisle.check.overlay import OVERLAY_CHECKS
from coldaisle.plan import plan_site
from coldaisle.plan.model import FabricPlan, OverlayPlan, SitePlan
from coldaisle.render.switches import switch_configs
from tests.unit.overlay_readers import OVERLAY_READERS, Carried, ReadOverlay
from tests.unit.overlay_sites import MODELS, PAIRS, bonded, overlay_site
from tests.unit.switch_readers import Session

SYSTEMS = sorted(MODELS)
WITH_PORTS = sorted({*MODELS} - {"frr"})


@cache
def planned(system: str) -> SitePlan:
    """Return the plan of the site with tenants on an operating system, which no check of overlays minds."""
    spec = overlay_site(system)
    plan = plan_site(spec)
    found = [found for check in OVERLAY_CHECKS for found in check(spec, plan) if found.severity == "error"]
    assert found == []
    return plan


def texts(plan: SitePlan) -> dict[str, str]:
    """Return the configuration of each switch."""
    return {config.switch: config.text or config.why for config in switch_configs(plan)}


@cache
def read_back(system: str) -> dict[str, ReadOverlay]:
    """Return what each switch's configuration says of the overlay."""
    return {name: OVERLAY_READERS[system](text) for name, text in texts(planned(system)).items()}


def overlay_of(fabric: FabricPlan) -> OverlayPlan:
    """Return the overlay of a fabric that has one."""
    assert fabric.overlay is not None
    return fabric.overlay


@pytest.mark.parametrize("system", SYSTEMS)
def test_sessions_between_loopbacks_have_both_ends(system: str) -> None:
    """Each leaf speaks to each spine once, from loopback to loopback, however many cables there are."""
    fabric = planned(system).fabrics["f"]
    switches = {switch.name: switch for switch in fabric.switches}
    wanted = set()
    for leaf in (switch for switch in switches.values() if switch.role == "leaf"):
        for spine in (switch for switch in switches.values() if switch.role == "spine"):
            session = Session(leaf.loopback or "", leaf.asn or 0, spine.loopback or "", spine.asn or 0)
            wanted |= {session, session.mirrored}
    opened = [session for found in read_back(system).values() for session in found.sessions]
    assert len(opened) == len(set(opened)) == 3 * 2 * 2
    assert set(opened) == wanted


@pytest.mark.parametrize("system", SYSTEMS)
def test_leaves_have_the_numbers_of_the_plan(system: str) -> None:
    """Tunnel address, VNIs, distinguishers and targets of every leaf are the plan's; spines have none of them."""
    overlay = overlay_of(planned(system).fabrics["f"])
    networks = {network.vlan: network for network in overlay.networks}
    tenants = {tenant.transit_vlan: tenant for tenant in overlay.tenants}
    read = read_back(system)
    for vtep in overlay.vteps:
        found = read[vtep.switch]
        assert found.vtep == vtep.address
        assert found.networks == {
            networks[one.vlan].vni: (one.route_distinguisher, networks[one.vlan].route_target) for one in vtep.networks
        }
        assert found.tenants == {
            tenants[one.vlan].vni: (tenants[one.vlan].name, (one.route_distinguisher, tenants[one.vlan].route_target))
            for one in vtep.tenants
        }
    spines = [read[name] for name in read if name.startswith("spine")]
    assert {(spine.vtep, len(spine.networks), len(spine.tenants)) for spine in spines} == {(None, 0, 0)}


@pytest.mark.parametrize("system", WITH_PORTS)
def test_leaves_have_the_vlans_and_gateways_of_the_plan(system: str) -> None:
    """VLANs lead to their VNIs, every leaf with a VLAN has its gateway, in the tenant's VRF, with the one MAC."""
    overlay = overlay_of(planned(system).fabrics["f"])
    networks = {network.vlan: network for network in overlay.networks}
    for vtep in overlay.vteps:
        found, own = read_back(system)[vtep.switch], [networks[one.vlan] for one in vtep.networks]
        assert found.vlans == {network.vlan: network.vni for network in own}
        assert found.gateways == {n.vlan: (n.tenant, n.gateway) for n in own if n.gateway is not None}
        assert found.relays == {n.vlan: n.relays for n in own if n.gateway is not None}
        assert found.gateway_mac == overlay.gateway_mac


@pytest.mark.parametrize("system", WITH_PORTS)
def test_ports_carry_what_the_plan_says(system: str) -> None:
    """Each port towards a node has the VLANs of its pool's networks, one without a tag."""
    overlay = overlay_of(planned(system).fabrics["f"])
    wanted: dict[str, dict[str, Carried]] = {name: {} for name in read_back(system)}
    for port in overlay.ports:
        wanted[port.port.device][port.port.port] = (port.untagged, frozenset(port.tagged))
    assert {name: dict(found.ports) for name, found in read_back(system).items()} == wanted
    assert len([port for ports in wanted.values() for port in ports]) == 6


def test_a_number_that_is_changed_is_seen() -> None:
    """The reading back sees another distinguisher, and a VLAN that is left out of a port."""
    text = texts(planned("eos"))["leaf01"]
    whole = OVERLAY_READERS["eos"](text)
    first = next(iter(whole.networks.values()))[0]
    assert OVERLAY_READERS["eos"](text.replace(f"rd {first}", f"rd {first}9")).networks != whole.networks
    trunk = next(line for line in text.splitlines() if "trunk allowed vlan" in line)
    assert OVERLAY_READERS["eos"](text.replace(trunk, f"{trunk},4000")).ports != whole.ports


def test_requests_leave_from_an_address_that_one_leaf_has() -> None:
    """A gateway's address is on every leaf, so that DHCP requests leave from the leaf's own, in the tenant's VRF."""
    eos, nvue = texts(planned("eos"))["leaf01"], texts(planned("cumulus"))["leaf01"]
    vtep = overlay_of(planned("eos").fabrics["f"]).vteps[0].address
    assert f"   vrf infra\n   ip address {vtep}/32\n" in eos
    assert "ip dhcp relay information option\n" in eos
    tree = yaml.safe_load(nvue)[0]["set"]
    assert tree["vrf"]["infra"]["loopback"]["ip"]["address"] == {f"{vtep}/32": {}}
    relay = tree["service"]["dhcp-relay"]["infra"]
    assert relay["gateway-interface"] == {"infra": {}}
    # Answers come in from other leaves and, since the servers' network is here too, from its VLAN.
    assert set(relay["server-group"]["machines"]["upstream-interface"]) == {"vlan2001_l3", "vlan102"}


def test_flooded_arp_is_asked_for() -> None:
    """Without suppression, each system floods ARP: EOS by a list of networks, NVUE by a word, SONiC without a row."""
    for system, said in (("eos", "arp proxy prefix-list FLOOD-ARP"), ("cumulus", "arp-nd-suppress: 'off'")):
        spec = overlay_site(system)
        fabric = spec.fabrics["f"]
        assert fabric.overlay is not None
        overlay = fabric.overlay.model_copy(update={"arp_suppression": False})
        fabrics = {"f": fabric.model_copy(update={"overlay": overlay})}
        loud = replace(spec, sections=spec.sections.model_copy(update={"fabrics": fabrics}))
        assert said in texts(plan_site(loud))["leaf01"]
        assert said not in texts(planned(system))["leaf01"]


# -- bonds ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("system", ["cumulus", "eos", "frr"])
def test_a_bond_over_two_leaves_is_one_segment(system: str) -> None:
    """Both leaves of a bond say the same segment and show the node one MAC, and other bonds have other segments."""
    found = texts(plan_site(bonded(system, **PAIRS)))
    words = {
        "eos": "      identifier 0002:005e:0001:0100:0002\n",
        "cumulus": "local-id: 2\n",
        "frr": " evpn mh es-id 2\n",
    }[system]
    assert [name for name, text in found.items() if words in text] == ["leaf01", "leaf02"]
    edge = {"eos": "port-channel lacp fallback individual", "cumulus": "lacp-bypass: 'on'", "frr": "evpn mh uplink"}
    assert edge[system] in found["leaf01"]


def test_a_bond_on_one_leaf_is_no_segment() -> None:
    """SONiC gets a bond whose ports are on one leaf, with fallback, and none that ends on two."""
    found = texts(plan_site(bonded("sonic")))["leaf01"]
    read = OVERLAY_READERS["sonic"](found)
    assert '"fallback": "true"' in found
    assert set(read.ports) == {"PortChannel1", "PortChannel2"}
    apart = texts(plan_site(bonded("sonic", **PAIRS)))["leaf01"]
    assert apart == "bonds over several leaves (EVPN multihoming) are not written for SONiC"


def test_members_pass_frames_by_themselves_where_a_host_boots() -> None:
    """On EOS the ports of a bond with fallback have its VLANs of their own, since each then stands alone."""
    read = OVERLAY_READERS["eos"](texts(plan_site(bonded("eos", **PAIRS)))["leaf01"])
    assert read.ports["Ethernet1/1"] == read.ports["Port-Channel1"]


# -- FRR --------------------------------------------------------------------------------------------------------
def test_frr_takes_its_configuration(tmp_path: Path) -> None:
    """`vtysh -C` of FRR itself finds no fault, with bonds and without, and finds one where a word is wrong."""
    vtysh = shutil.which("vtysh")
    if vtysh is None:
        pytest.skip("FRR is not installed")
    found = {f"bonded-{name}": text for name, text in texts(plan_site(bonded("frr", **PAIRS))).items()}
    wrong = texts(planned("frr"))["leaf01"].replace("route-target import", "route-targets import", 1)
    found["bare"] = texts(plan_site(overlay_site("frr", unnumbered=True)))["leaf01"]
    for name, text in {**found, **texts(planned("frr")), "wrong": wrong}.items():
        file = tmp_path / f"{name}.conf"
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([vtysh, "-C", "-f", str(file)], capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == (name != "wrong"), f"{name}: {done.stdout}{done.stderr}"


@pytest.mark.parametrize(
    ("system", "words"),
    [("eos", "   lacp timer fast\n"), ("cumulus", "lacp-rate: fast"), ("sonic", '"fast_rate": "true"')],
)
def test_both_ends_of_a_bond_have_one_rate(system: str, words: str) -> None:
    """Leaves ask for LACP's frames as often as the node does."""
    assert words in texts(plan_site(bonded(system)))["leaf01"]
    assert words not in texts(plan_site(bonded(system, bond={"lacp_rate": "slow"})))["leaf01"]


WAYS_OUT = {
    "eos": ("ip route vrf red 0.0.0.0/0 10.73.0.254\n", "      redistribute connected\n      redistribute static\n"),
    "frr": (" ip route 0.0.0.0/0 10.73.0.254\n", "  redistribute connected\n  redistribute static\n"),
    "cumulus": ("            0.0.0.0/0:\n", "                  static:\n                    enable: 'on'\n"),
    "sonic": ('"Vrf-red|0.0.0.0/0": {\n            "nexthop": "10.73.0.254"', '"Vrf-red|static|bgp|ipv4": {}'),
}
"""The route out of a tenant, and what tells the other leaves of it."""


@pytest.mark.parametrize("system", SYSTEMS)
def test_ways_out_begin_where_their_router_stands(system: str) -> None:
    """Leaves with the router's network have the route and tell of it; other leaves and other tenants have none."""
    overlay = overlay_of(planned(system).fabrics["f"])
    there = {vtep.switch for vtep in overlay.vteps if 300 in {network.vlan for network in vtep.networks}}
    for words in WAYS_OUT[system]:
        assert {name for name, text in texts(planned(system)).items() if words in text} == there
        assert not any(text.count(words) > 1 for text in texts(planned(system)).values())
    assert 0 < len(there) < len(overlay.vteps)


SCHEMAS = Path(__file__).parent / "schemas"


@pytest.mark.parametrize(
    ("system", "read", "schema"),
    [("cumulus", yaml.safe_load, "nvue-startup.schema.json"), ("sonic", json.loads, "sonic-config-db.schema.json")],
)
def test_bonds_and_ways_out_fit_the_schemas(system: str, read: Callable[[str], Any], schema: str) -> None:
    """What tenants and bonds bring into NVUE's YAML and SONiC's JSON are keys that their documentation gives."""
    validator = jsonschema.Draft202012Validator(json.loads((SCHEMAS / schema).read_text(encoding="utf-8")))
    for text in (*texts(planned(system)).values(), *texts(plan_site(bonded(system))).values()):
        assert not [error.message for error in validator.iter_errors(read(text))]
