"""An overlay as FRR runs it: sessions between loopbacks, and frames of two tenants through real VXLAN tunnels."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from coldaisle.plan import plan_site
from coldaisle.plan.model import FabricPlan, OverlayPlan, SitePlan
from coldaisle.render.frr import switch_config
from sim.fabric import FRR_FOLDER, load_configuration, start_daemons
from sim.processes import ProcessGroups
from sim.shell import run
from tests.unit.overlay_sites import MODELS, overlay_site

PREFIX = f"ovt{os.getpid() % 100000}"
"""Beginning of the namespaces' names, so that no other test's or site's are meant."""
SOCKETS = Path("/run") / PREFIX
SUBNET = "10.73.0"
TENANTS = {
    name: {"networks": {"data": {"subnet": f"{SUBNET}.0/24", "tagged": {"pools": ["a", "b"]}}}}
    for name in ("red", "blue")
}
"""Two tenants with one subnet, so that an answer from the wrong one would be seen."""
UP_S = 60
MTU_PAYLOAD = 1472
"""What an echo carries in a packet of 1500 bytes."""


@dataclass(frozen=True)
class Live:
    """A plan whose switches run."""

    plan: SitePlan

    @property
    def fabric(self) -> FabricPlan:
        """Return its one fabric."""
        return self.plan.fabrics["f"]

    @property
    def overlay(self) -> OverlayPlan:
        """Return the overlay of it."""
        assert self.fabric.overlay is not None
        return self.fabric.overlay


def within(name: str, *words: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command in a namespace."""
    return run(["ip", "netns", "exec", f"{PREFIX}-{name}", *words], check=check)


def kernel_lacks() -> str | None:
    """Return what this machine lacks for a tunnel between bridges, or None."""
    if os.geteuid() or not (FRR_FOLDER / "bgpd").is_file():
        return "needs root and FRR"
    for kind in (["bridge"], ["vxlan", "id", "1", "dstport", "4789", "local", "127.0.0.1"]):
        done = run(["unshare", "-n", "ip", "link", "add", "probe", "type", *kind], check=False)
        if done.returncode:
            return f"the kernel makes no {kind[0]}: {done.stderr.strip()}"
    return None


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """Yield two leaves and a spine that run the configurations of their plan, and take them away again."""
    lacking = kernel_lacks()
    if lacking:
        pytest.skip(lacking)
    spine = {"model": MODELS["frr"], "count": 1}
    plan = plan_site(overlay_site("frr", TENANTS, spine=spine, nodes_per_leaf_group=3))
    found = Live(plan)
    hosts = [f"{leaf}-{tenant}" for leaf in ("leaf01", "leaf02") for tenant in TENANTS]
    names = [*(switch.name for switch in found.fabric.switches), *hosts]
    groups = ProcessGroups(PREFIX)
    try:
        for name in names:
            run(["ip", "netns", "add", f"{PREFIX}-{name}"])
            within(name, "ip", "link", "set", "lo", "up")
        cable(found)
        bridge(found)
        start(found, groups, tmp_path_factory.mktemp("logs"))
        yield found
    finally:
        groups.stop_all()
        for name in names:
            run(["ip", "netns", "del", f"{PREFIX}-{name}"], check=False)
        shutil.rmtree(SOCKETS, ignore_errors=True)


def cable(live: Live) -> None:
    """Lay the cables between switches, with room for VXLAN."""
    for cable in (cable for cable in live.fabric.cables if cable.kind == "leaf-spine"):
        ends = [(end, f"{PREFIX}-{end.device}") for end in (cable.a, cable.b)]
        (a, one), (b, other) = ends
        run(["ip", "link", "add", a.port, "netns", one, "type", "veth", "peer", b.port, "netns", other])
        for end, _ in ends:
            within(end.device, "ip", "link", "set", end.port, "mtu", str(cable.mtu_bytes), "up")


def bridge(live: Live) -> None:
    """Give each leaf a bridge and a tunnel of each of its networks, and a host of each tenant."""
    networks = {network.vlan: network for network in live.overlay.networks}
    for number, vtep in enumerate(live.overlay.vteps, start=1):
        for network in (networks[one.vlan] for one in vtep.networks):
            leaf, host, br, vx = (
                vtep.switch,
                f"{vtep.switch}-{network.tenant}",
                f"br{network.vlan}",
                f"vx{network.vlan}",
            )
            tunnel = ["id", str(network.vni), "dstport", "4789", "local", vtep.address or "", "nolearning"]
            within(leaf, "ip", "link", "add", br, "type", "bridge")
            within(leaf, "ip", "link", "add", vx, "type", "vxlan", *tunnel)
            port = f"to-{network.tenant}"
            peer = ["peer", "eth0", "netns", f"{PREFIX}-{host}"]
            within(leaf, "ip", "link", "add", port, "type", "veth", *peer)
            for device in (vx, port):
                within(leaf, "ip", "link", "set", device, "master", br)
            for device in (br, vx, port):
                within(leaf, "ip", "link", "set", device, "up")
            within(host, "ip", "address", "add", f"{SUBNET}.{number}/24", "dev", "eth0")
            within(host, "ip", "link", "set", "eth0", "up")


def start(live: Live, groups: ProcessGroups, logs: Path) -> None:
    """Start the switches' daemons, and give each switch its configuration."""
    for switch in live.fabric.switches:
        sockets = SOCKETS / switch.name
        start_daemons(groups, switch.name, f"{PREFIX}-{switch.name}", sockets, logs)
        file = sockets / "frr.conf"
        file.write_text(switch_config(live.plan, "f", switch.name), encoding="utf-8")
        load_configuration(sockets, file)


def until(what: str, true: object) -> None:
    """Wait until something is true, for a minute at most."""
    assert callable(true)
    deadline = time.monotonic() + UP_S
    while not true():
        assert time.monotonic() < deadline, f"not within {UP_S} s: {what}"
        time.sleep(0.3)


def established(live: Live) -> int:
    """Count the ends of overlay sessions that are up."""
    count = 0
    for switch in live.fabric.switches:
        said = run(["vtysh", "--vty_socket", SOCKETS / switch.name, "-c", "show bgp l2vpn evpn summary json"]).stdout
        count += sum(peer["state"] == "Established" for peer in json.loads(said).get("peers", {}).values())
    return count


def test_frames_of_a_tenant_cross_the_fabric_and_meet_no_other(live: Live) -> None:
    """Every session comes up, full packets reach the host on the other leaf, and no other tenant's answers them."""
    until("every overlay session is up at both ends", lambda: established(live) == 2 * len(live.overlay.sessions))
    echo = ["ping", "-c", "1", "-W", "1", "-M", "do", "-s", str(MTU_PAYLOAD), f"{SUBNET}.2"]
    for tenant in TENANTS:
        until(
            f"{tenant} reaches its other host",
            lambda t=tenant: not within(f"leaf01-{t}", *echo, check=False).returncode,
        )
    within("leaf02-blue", "ip", "link", "set", "eth0", "down")
    assert within("leaf01-blue", *echo, check=False).returncode
    assert not within("leaf01-red", *echo, check=False).returncode
