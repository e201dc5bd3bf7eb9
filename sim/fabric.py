"""
The switches of a site: FRR in a network namespace each, with an SSH server at its management address.

A switch comes up with the configuration that it was told to keep, and without any the first time, as from its box: who
configures it logs in. In its SSH sessions `/etc/frr` and `/run` are the switch's own.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from coldaisle.plan.model import SitePlan
from coldaisle.plan.plays import configured_switches
from sim.network import oob_switch
from sim.processes import POLL_S, STOP_S, ProcessGroups
from sim.shell import find, run
from sim.state import State

DAEMONS = ("zebra", "bgpd")
LLDP, SSH = "lldp", "ssh"
PROCESSES = (*DAEMONS, LLDP, SSH)
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

OWN_SYSTEM = """
set -e
hostname "$1"
mkdir -p "$2/run/frr" "$2/run/sshd" "$2/run/lldpd"
mount --bind "$3" "$2/run/frr"
mount --bind "$2/etc" /etc/frr
mount --rbind "$2/run" /run
shift 3
exec "$@"
"""
"""Runs a command as on the switch itself: name, folder and sockets of the switch, then the command."""

LLDP_SETTINGS = "configure lldp portidsubtype ifname\nconfigure lldp tx-interval 5\n"
"""Ports by their names, as Cumulus Linux and SONiC have them; a frame more often than the usual 30 s."""

SSH_CONFIG = """\
AuthorizedKeysFile {folder}/authorized_keys
HostKey {folder}/ssh_host_ed25519_key
ListenAddress {address}
PasswordAuthentication no
PidFile none
StrictModes no
UsePAM no
"""


def switch_names(plan: SitePlan) -> dict[str, str]:
    """Return the address of each switch that can be simulated: those on FRR that a play configures."""
    return {
        switch.name: (switch.management_address or "").split("/")[0]
        for fabric in plan.fabrics.values()
        for switch in configured_switches(fabric)
        if switch.network_os == "frr"
    }


def start_switches(plan: SitePlan, state: State) -> int:
    """Start the switches that do not run, and return how many were started."""
    groups = ProcessGroups(state.site)
    names = switch_names(plan)
    stopped = [name for name in names if not all(groups.pids(f"{name}-{process}") for process in PROCESSES)]
    for name in stopped:
        for process in (LLDP, SSH):
            groups.stop(f"{name}-{process}")
        start_switch(groups, state, name)
        _start_ssh(groups, state, name, names[name])
    oob = oob_switch(plan)
    if not groups.pids(f"{oob}-{LLDP}"):
        _make_sockets(socket_folder(state, oob))
        _start_lldp(groups, state, oob)
    return len(stopped)


def socket_folder(state: State, name: str) -> Path:
    """Return the folder of a switch's control sockets, for `vtysh --vty_socket`."""
    return SOCKETS / state.site / name


def remove_sockets(state: State) -> None:
    """Remove the control sockets of all switches of a site."""
    shutil.rmtree(SOCKETS / state.site, ignore_errors=True)
    if SOCKETS.exists() and not any(SOCKETS.iterdir()):
        SOCKETS.rmdir()


def start_switch(groups: ProcessGroups, state: State, name: str) -> None:
    """Start the routing daemons of one switch, and give them what the switch has kept."""
    start_daemons(groups, name, state.namespace(name), socket_folder(state, name), state.logs)
    _start_lldp(groups, state, name)
    _wait_for(socket_folder(state, name) / "bgpd.vty")
    if (state.switches / name / "etc/frr.conf").exists():
        run([*on_switch(state, name), find("vtysh", "frr"), "-b"])


def start_daemons(groups: ProcessGroups, name: str, namespace: str, sockets: Path, logs: Path) -> None:
    """Make a namespace a router and start its daemons with nothing configured; those that run are ended first."""
    for daemon in DAEMONS:
        groups.stop(f"{name}-{daemon}")
    _make_sockets(sockets)
    settings = [f"{key}={value}" for key, value in FORWARDING.items()]
    run([*_inside(namespace), find("sysctl", "procps"), "-qw", *settings])
    for daemon in DAEMONS:
        # The daemons give up root, and the group of their sockets is fixed in Debian's build.
        options = ["--vty_port", "0", "--vty_socket", str(sockets), "-z", f"{sockets}/zserv"]
        options += ["-i", f"{sockets}/{daemon}.pid", "-f", "/dev/null", "--log", "stdout"]
        log = logs / f"{name}-{daemon}.log"
        groups.start(f"{name}-{daemon}", [FRR_FOLDER / daemon, *options], log, namespace=namespace)
        if daemon == DAEMONS[0]:
            _wait_for(sockets / "zserv")  # a daemon that finds nobody there tries again only after ten seconds


def _make_sockets(sockets: Path) -> None:
    """Make an empty folder for sockets: an old one would look like a daemon that listens."""
    shutil.rmtree(sockets, ignore_errors=True)
    sockets.mkdir(parents=True)
    shutil.chown(sockets, FRR_USER, FRR_USER)


def _wait_for(socket: Path) -> None:
    """Wait until a daemon listens."""
    deadline = time.monotonic() + STOP_S
    while not socket.exists() and time.monotonic() < deadline:
        time.sleep(POLL_S)


def load_configuration(sockets: Path, file: Path) -> str:
    """Give the daemons behind some sockets a configuration; what the shell says of it is returned."""
    _wait_for(sockets / "bgpd.vty")
    done = run([find("vtysh", "frr"), "--vty_socket", sockets, "--config_dir", file.parent, "-f", file])
    return done.stdout + done.stderr


def _start_lldp(groups: ProcessGroups, state: State, name: str) -> None:
    folder = state.switches / name
    for part in ("etc", "run"):  # what `on_switch` binds must be there
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "run/lldpd.conf").write_text(LLDP_SETTINGS)  # the daemon has given up root when it reads this
    words = [*on_switch(state, name), find("lldpd", "lldpd"), "-d", "-O", "/run/lldpd.conf", "-S", "Linux switch"]
    groups.start(f"{name}-{LLDP}", words, state.logs / f"{name}-{LLDP}.log")


def _inside(namespace: str) -> list[str]:
    return [find("nsenter", "util-linux"), f"--net=/run/netns/{namespace}"]


def on_switch(state: State, name: str) -> list[str]:
    """Return the words before a command that run it as on the switch itself: with its network, name and files."""
    own = [*_inside(state.namespace(name)), find("unshare", "util-linux"), "--mount", "--uts"]
    return [*own, "sh", "-c", OWN_SYSTEM, "switch", name, str(state.switches / name), str(socket_folder(state, name))]


def _start_ssh(groups: ProcessGroups, state: State, name: str, address: str) -> None:
    """Start the switch's SSH server, which lets the site's key in."""
    folder = state.switches / name
    key = folder / "ssh_host_ed25519_key"
    if not key.exists():
        run([find("ssh-keygen", "openssh-client"), "-q", "-t", "ed25519", "-N", "", "-f", key])
    (folder / "authorized_keys").write_text(state.ssh_key.with_suffix(".pub").read_text())
    (folder / "sshd_config").write_text(SSH_CONFIG.format(folder=folder, address=address))
    command = [*on_switch(state, name), find("sshd", "openssh-server"), "-D", "-e", "-f", str(folder / "sshd_config")]
    groups.start(f"{name}-{SSH}", command, state.logs / f"{name}-{SSH}.log")
