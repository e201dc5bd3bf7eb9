"""The switches of a site: FRR in a network namespace each, with the configuration that a real one would be given."""

from __future__ import annotations

import shutil
from pathlib import Path

from coldaisle.plan.model import SitePlan
from coldaisle.render.frr import switch_config
from sim.processes import ProcessGroups
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
    for daemon in DAEMONS:
        groups.stop(f"{name}-{daemon}")
    sockets = socket_folder(state, name)
    shutil.rmtree(sockets, ignore_errors=True)  # an old socket would look like a daemon that listens
    sockets.mkdir(parents=True)
    shutil.chown(sockets, FRR_USER, FRR_USER)
    namespace = state.namespace(name)
    settings = [f"{key}={value}" for key, value in FORWARDING.items()]
    run([find("nsenter", "util-linux"), f"--net=/run/netns/{namespace}", find("sysctl", "procps"), "-qw", *settings])
    for daemon in DAEMONS:
        # The daemons give up root, and the group of their sockets is fixed in Debian's build.
        options = ["--vty_port", "0", "--vty_socket", str(sockets), "-z", f"{sockets}/zserv"]
        options += ["-i", f"{sockets}/{daemon}.pid", "-f", "/dev/null", "--log", "stdout"]
        log = state.logs / f"{name}-{daemon}.log"
        groups.start(f"{name}-{daemon}", [FRR_FOLDER / daemon, *options], log, namespace=namespace)


def _configure(state: State, name: str, text: str) -> None:
    """Give a switch its configuration, through the shell that an operator would use."""
    path = state.switches / name / "frr.conf"
    path.parent.mkdir(exist_ok=True)
    sockets = socket_folder(state, name)
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    run(["sh", "-c", 'for i in $(seq 100); do [ -S "$0/bgpd.vty" ] && exit; sleep 0.1; done; exit 1', sockets])
    run([find("vtysh", "frr"), "--vty_socket", sockets, "--config_dir", path.parent, "-f", fresh])
    fresh.rename(path)  # only what a switch has taken counts as its configuration
