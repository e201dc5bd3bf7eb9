"""
The switches of a site: FRR in a network namespace each, with an SSH server at its management address.

A switch comes up with the configuration that it was told to keep, and without any the first time, as from its box: who
configures it logs in. In its SSH sessions `/etc/frr` and `/run` are the switch's own.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from coldaisle.plan.model import SitePlan
from coldaisle.plan.plays import configured_switches
from sim.network import oob_switch
from sim.processes import ProcessGroups
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
    """Return the switches of a plan that can be configured, each with its management address."""
    return {
        switch.name: (switch.management_address or "").split("/")[0]
        for fabric in plan.fabrics.values()
        for switch in configured_switches(fabric)
    }


def start_switches(plan: SitePlan, state: State) -> int:
    """Start the switches that do not run, and return how many were started."""
    groups = ProcessGroups(state.site)
    names = switch_names(plan)
    stopped = [name for name in names if not all(groups.pids(f"{name}-{process}") for process in PROCESSES)]
    for name in stopped:
        for process in PROCESSES:
            groups.stop(f"{name}-{process}")
        start_switch(groups, state, name)
        _start_ssh(groups, state, name, names[name])
    oob = oob_switch(plan)
    if not groups.pids(f"{oob}-{LLDP}"):
        _make_folders(state, oob)
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
    _make_folders(state, name)
    sockets, namespace = socket_folder(state, name), state.namespace(name)
    settings = [f"{key}={value}" for key, value in FORWARDING.items()]
    run([*_inside(namespace), find("sysctl", "procps"), "-qw", *settings])
    for daemon in DAEMONS:
        # The daemons give up root, and the group of their sockets is fixed in Debian's build.
        options = ["--vty_port", "0", "--vty_socket", str(sockets), "-z", f"{sockets}/zserv"]
        options += ["-i", f"{sockets}/{daemon}.pid", "-f", "/dev/null", "--log", "stdout"]
        log = state.logs / f"{name}-{daemon}.log"
        groups.start(f"{name}-{daemon}", [FRR_FOLDER / daemon, *options], log, namespace=namespace)
    _start_lldp(groups, state, name)
    run(["sh", "-c", 'for i in $(seq 100); do [ -S "$0/bgpd.vty" ] && exit; sleep 0.1; done; exit 1', sockets])
    if (state.switches / name / "etc/frr.conf").exists():
        run([*on_switch(state, name), find("vtysh", "frr"), "-b"])


def _make_folders(state: State, name: str) -> None:
    """Make a switch's own folders; an old socket would look like a daemon that listens, so none is left."""
    sockets = socket_folder(state, name)
    shutil.rmtree(sockets, ignore_errors=True)
    sockets.mkdir(parents=True)
    shutil.chown(sockets, FRR_USER, FRR_USER)
    (state.switches / name / "etc").mkdir(parents=True, exist_ok=True)


def _start_lldp(groups: ProcessGroups, state: State, name: str) -> None:
    settings = state.switches / name / "lldpd.conf"
    settings.write_text(LLDP_SETTINGS)
    words = [*on_switch(state, name), find("lldpd", "lldpd"), "-d", "-O", str(settings), "-S", "Linux switch"]
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
