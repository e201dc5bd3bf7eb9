"""The switches of a site: FRR in a network namespace each, with the configuration that a real one would be given."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from coldaisle.plan.model import SitePlan
from coldaisle.render.frr import switch_config
from sim.processes import POLL_S, STOP_S, ProcessGroups
from sim.shell import find, run
from sim.state import State

DAEMONS = ("zebra", "bgpd")
FRR_FOLDER = Path("/usr/lib/frr")
FRR_USER = "frr"
"""User and group that Debian's package makes for the daemons."""

SOCKETS = Path("/run/coldaisle")
"""Where the switches' sockets are: the name of a socket may have 107 characters, so a home folder is too deep."""

FORWARDING = {
    "net.ipv4.ip_forward": "1",
    "net.ipv4.conf.all.rp_filter": "0",
    "net.ipv4.conf.default.rp_filter": "0",
    "net.ipv4.fib_multipath_hash_policy": "1",
}
"""What makes a namespace a router that spreads flows over equal paths, by ports too."""


def switch_names(plan: SitePlan) -> dict[str, str]:
    """Return the routed switches of a plan, each with the name of its fabric."""
    return {
        switch.name: fabric.name
        for fabric in plan.fabrics.values()
        for switch in fabric.switches
        if switch.asn is not None
    }


def start_switches(plan: SitePlan, state: State) -> int:
    """Start the switches that do not run, or run another configuration, and return how many were started."""
    groups = ProcessGroups(state.site)
    started = 0
    for name, fabric in switch_names(plan).items():
        text = switch_config(plan, fabric, name)
        runs = all(groups.pids(f"{name}-{daemon}") for daemon in DAEMONS)
        if not runs or _configuration(state, name) != text:
            _start_switch(groups, state, name)
            _configure(state, name, text)
            started += 1
    return started


def _configuration(state: State, name: str) -> str | None:
    """Return the configuration that a switch was given, or None."""
    path = state.switches / name / "frr.conf"
    return path.read_text() if path.exists() else None


def socket_folder(state: State, name: str) -> Path:
    """Return the folder of a switch's control sockets, for `vtysh --vty_socket`."""
    return SOCKETS / state.site / name


def remove_sockets(state: State) -> None:
    """Remove the control sockets of all switches of a site."""
    shutil.rmtree(SOCKETS / state.site, ignore_errors=True)
    if SOCKETS.exists() and not any(SOCKETS.iterdir()):
        SOCKETS.rmdir()


def _start_switch(groups: ProcessGroups, state: State, name: str) -> None:
    """Start the routing daemons of one switch with nothing configured."""
    start_daemons(groups, name, state.namespace(name), socket_folder(state, name), state.logs)


def start_daemons(groups: ProcessGroups, name: str, namespace: str, sockets: Path, logs: Path) -> None:
    """Make a namespace a router and start its daemons with nothing configured; those that run are ended first."""
    for daemon in DAEMONS:
        groups.stop(f"{name}-{daemon}")
    shutil.rmtree(sockets, ignore_errors=True)  # an old socket would look like a daemon that listens
    sockets.mkdir(parents=True)
    shutil.chown(sockets, FRR_USER, FRR_USER)
    settings = [f"{key}={value}" for key, value in FORWARDING.items()]
    run([find("nsenter", "util-linux"), f"--net=/run/netns/{namespace}", find("sysctl", "procps"), "-qw", *settings])
    for daemon in DAEMONS:
        # The daemons give up root, and the group of their sockets is fixed in Debian's build.
        options = ["--vty_port", "0", "--vty_socket", str(sockets), "-z", f"{sockets}/zserv"]
        options += ["-i", f"{sockets}/{daemon}.pid", "-f", "/dev/null", "--log", "stdout"]
        log = logs / f"{name}-{daemon}.log"
        groups.start(f"{name}-{daemon}", [FRR_FOLDER / daemon, *options], log, namespace=namespace)
        if daemon == DAEMONS[0]:
            _wait_for(sockets / "zserv")


def _wait_for(socket: Path) -> None:
    """Wait until zebra listens: a daemon that finds nobody there tries again only after ten seconds."""
    deadline = time.monotonic() + STOP_S
    while not socket.exists() and time.monotonic() < deadline:
        time.sleep(POLL_S)


def _configure(state: State, name: str, text: str) -> None:
    """Give a switch its configuration, through the shell that an operator would use."""
    path = state.switches / name / "frr.conf"
    path.parent.mkdir(exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    load_configuration(socket_folder(state, name), fresh)
    fresh.rename(path)  # only what a switch has taken counts as its configuration


def load_configuration(sockets: Path, file: Path) -> str:
    """Give the daemons behind some sockets a configuration; what the shell says of it is returned."""
    run(["sh", "-c", 'for i in $(seq 100); do [ -S "$0/bgpd.vty" ] && exit; sleep 0.1; done; exit 1', sockets])
    done = run([find("vtysh", "frr"), "--vty_socket", sockets, "--config_dir", file.parent, "-f", file])
    return done.stdout + done.stderr
