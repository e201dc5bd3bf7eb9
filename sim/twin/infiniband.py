"""
An InfiniBand fabric in ibsim: opensm brings the subnet up, and `ibnetdiscover` is compared with the cabling plan.

ibsim answers management packets only: there is no data, and so nothing is said of traffic. Its sockets belong to the
network namespace that it runs in, so that two runs do not meet.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coldaisle.plan.model import FabricPlan
from coldaisle.render.ibsim import ibsim_netlist
from coldaisle.verify import CablingReport, Wanted, compare, read
from sim.errors import SimError
from sim.shell import environment, find, run
from sim.twin.cables import Joint
from sim.twin.place import Place
from sim.twin.records import Check, check
from sim.twin.switches import inside

DEVICE = "subnet"
"""The one namespace of an InfiniBand twin."""
READY_S = 30.0
OPENSM_S = 300.0
DISCOVER_S = 120.0
UP = "SUBNET UP"
FAT_TREE = "ftree tables configured on all switches"


@dataclass(frozen=True, slots=True)
class Subnet:
    """What opensm and ibnetdiscover said; `up_s` is how long opensm took from its start until it ended."""

    opensm_log: str
    discovered: str
    up_s: float


def start(place: Place, netlist: str, nodes: int, switches: int) -> None:
    """Start ibsim with a fabric, and wait until it answers."""
    ip = find("ip", "iproute2")
    run([ip, "netns", "add", place.namespace(DEVICE)])
    run([ip, "-n", place.namespace(DEVICE), "link", "set", "lo", "up"])
    file = place.folder / "fabric.net"
    file.write_text(netlist)
    ports = (
        netlist.count("\n[") + netlist.count("\nSwitch") * 2 + sum(map(int, re.findall(r"(?m)^Switch (\d+)", netlist)))
    )
    limits = ["-N", str(nodes + switches + 1), "-S", str(switches + 1), "-P", str(ports + nodes + 64)]
    log = place.logs / "ibsim.log"
    words = [find("ibsim", "ibsim-utils"), "-s", "-n", *limits, str(file)]
    place.groups.start("ibsim", words, log, namespace=place.namespace(DEVICE))
    _wait_ready(place, log)


def _wait_ready(place: Place, log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while "Network simulator ready" not in log.read_text(errors="replace"):
        if not place.groups.pids("ibsim") or time.monotonic() > deadline:
            said = [
                line for line in log.read_text(errors="replace").splitlines() if "cannot parse remote lid" not in line
            ]
            have = "; ".join(said[-3:]) or "it printed nothing"
            raise SimError("ibsim", "the simulator of InfiniBand did not start", have, "report this netlist")
        time.sleep(0.05)


def bring_up(place: Place, at: str, progress: Callable[[str], None]) -> Subnet:
    """Run opensm once with fat-tree routing from a node `at`, then look at the subnet."""
    log = place.folder / "opensm.log"
    started = time.monotonic()
    _client(place, at, [find("opensm", "opensm"), "-R", "ftree", "-o", "-f", log], OPENSM_S)
    took = time.monotonic() - started
    progress(f"opensm ended after {took:.1f} s")
    said = _client(place, at, [find("ibnetdiscover", "infiniband-diags")], DISCOVER_S)
    return Subnet(log.read_text(errors="replace") if log.exists() else "", said, took)


def _client(place: Place, at: str, words: Sequence[str | Path], limit_s: float) -> str:
    """Run a program whose InfiniBand port is that of a simulated node; what it leaves goes into the twin's folder."""
    folder = place.folder
    variables = {
        **environment(),
        "LD_PRELOAD": _library(),
        "SIM_HOST": at,
        "OSM_TMP_DIR": str(folder),
        "OSM_CACHE_DIR": str(folder),
    }
    command = [*inside(place, DEVICE), *map(str, words)]
    try:
        done = subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=limit_s
        )
    except subprocess.TimeoutExpired as error:
        fix = "run it again on a machine with less to do"
        raise SimError(str(words[0]), f"it did not end within {limit_s:.0f} s", "no answer", fix) from error
    return done.stdout


def _library() -> str:
    """Return the library that leads management packets to ibsim."""
    found = sorted(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so")) + sorted(Path("/usr/lib").glob("umad2sim/*.so"))
    if not found:
        fix = "install the package ibsim-utils"
        raise SimError("libumad2sim.so", "this library is needed", "it is not below /usr/lib", fix)
    return str(found[0])


def netlist_of(fabric: FabricPlan, wanted: Wanted, joined: Sequence[Joint]) -> str:
    """Return the netlist of what is joined, with the ports of each switch as the catalog numbers them."""
    # A switch's management port is the last of its ports, and is none of InfiniBand.
    ports = {switch.name: wanted.devices[switch.name].ports[: switch.ports] for switch in fabric.switches}
    return ibsim_netlist(((joint.a, joint.b) for joint in joined), ports)


def subnet_checks(fabric: FabricPlan, wanted: Wanted, subnet: Subnet) -> tuple[tuple[Check, ...], CablingReport]:
    """Return the checks of a subnet from what opensm and ibnetdiscover said, and the comparison of its cables."""
    report = compare(wanted, [read(subnet.discovered.encode(), "ibnetdiscover")])
    checks = (
        check("subnet-up", "opensm says SUBNET UP", _said(subnet.opensm_log, UP, "opensm says SUBNET UP")),
        check(
            "routing",
            "fat-tree tables on all switches",
            _said(subnet.opensm_log, FAT_TREE, "fat-tree tables on all switches"),
        ),
        _lids(fabric, subnet.discovered),
    )
    return checks, report


def _said(log: str, line: str, meaning: str) -> str:
    """Return the meaning of a line of opensm's log, or the last line of it where that line is not there."""
    if line in log:
        return meaning
    lines = [each for each in log.splitlines() if "-> " in each]
    return lines[-1].split("-> ", 1)[1].strip() if lines else "opensm wrote no log"


def _lids(fabric: FabricPlan, discovered: str) -> Check:
    """Compare how many ports got an address: one a switch, one an adapter's port."""
    switches = {switch.name for switch in fabric.switches}
    adapters = {end for cable in fabric.cables for end in (cable.a, cable.b) if end.device not in switches}
    wanted = len(switches) + len(adapters)
    of_switches = re.findall(r"(?m)^Switch.*base port \d+ lid (\d+)", discovered)
    of_adapters = re.findall(r'(?m)^\[\d+\]\([0-9a-f]+\)\s+"S-.*# lid (\d+)', discovered)
    lids = {lid for lid in (*of_switches, *of_adapters) if lid != "0"}
    return check(
        "lids",
        f"{wanted} of {wanted} ports have a LID of their own",
        f"{len(lids)} of {wanted} ports have a LID of their own",
    )
