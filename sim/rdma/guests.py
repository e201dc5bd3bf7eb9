"""The provisioner and the two guests: started, reached over SSH, and asked."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coldaisle.plan.model import SitePlan
from coldaisle.render.boot import DNSMASQ_UNIT, image_copies, program_links, pxe_files
from coldaisle.render.files import bare_address
from sim.machines import Machine, machines
from sim.power import PowerSwitch
from sim.rdma.place import PROVISIONER, Lab
from sim.rdma.wires import Cables, with_speed
from sim.secrets import ensure_secrets
from sim.services import install_machines
from sim.shell import environment, find, run
from sim.twin.switches import inside

COMMAND_S = 60
"""Longest wait for the answer to one command, which shares a connection."""

BANNER_S = 120
"""How long SSH waits for a guest that has just started: with ten seconds, a busy one answers nobody (measured)."""

POLL_S = 0.5

STARTED_UNITS = (DNSMASQ_UNIT, "nginx")


@dataclass(frozen=True, slots=True)
class Guest:
    """One of the two: its name, and how it is reached: the words that run ssh, and its options with the login."""

    name: str
    ssh: tuple[str, ...]
    login: tuple[str, ...]

    def ask(self, command: str, *, timeout_s: float = COMMAND_S) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; one that takes too long ends with 124, as timeout(1) has it."""
        try:
            return subprocess.run(
                [*self.ssh, *self.login, command],
                capture_output=True,
                text=True,
                check=False,
                stdin=subprocess.DEVNULL,
                env=dict(environment()),
                timeout=timeout_s,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", f"no answer within {timeout_s:g} s")

    def begin(self, command: str) -> subprocess.Popen[str]:
        """Start a command, and return while it runs."""
        return subprocess.Popen(
            [*self.ssh, *self.login, command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=dict(environment()),
        )


def ssh_options(lab: Lab) -> str:
    """Return the options of every connection: host keys and shared connections are the lab's own."""
    known, sockets = lab.folder / "known_hosts", lab.folder / "ssh"
    sharing = f"-o ControlMaster=no -o ControlPath={sockets}/%h"
    return f"-o UserKnownHostsFile={known} -o StrictHostKeyChecking=accept-new -o ConnectTimeout=10 {sharing}"


def connect(lab: Lab, guests: Sequence[Guest], timeout_s: float) -> list[str | None]:
    """
    Open the connection to each guest that all others share, as soon as it has booted.

    It is a process of the lab, and ends with it. Returns for each None, or what it said last when it does not answer.
    """
    deadline, silent = time.monotonic() + timeout_s, list(guests)
    while silent and time.monotonic() < deadline:
        silent = [guest for guest in silent if not _is_open(guest)]
        for guest in silent:
            _open(lab, guest)
        time.sleep(POLL_S if silent else 0)
    return [_last_words(lab, guest) if guest in silent else None for guest in guests]


def _is_open(guest: Guest) -> bool:
    return run([*guest.ssh, "-O", "check", *guest.login], check=False).returncode == 0


def _open(lab: Lab, guest: Guest) -> None:
    """Start the shared connection, unless it is being opened."""
    name = f"ssh-{guest.name}"
    if not lab.groups.pids(name):
        words = [*guest.ssh, "-N", "-o", "ControlMaster=yes", "-o", f"ConnectTimeout={BANNER_S}", *guest.login]
        lab.groups.start(name, words, lab.logs / f"{name}.log")


def _last_words(lab: Lab, guest: Guest) -> str:
    console = lab.state.machines / guest.name / "serial.log"
    lines = console.read_text(errors="replace").splitlines() if console.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "nothing on its console")


def guests(lab: Lab, plan: SitePlan) -> tuple[Guest, ...]:
    """Return how each node of the plan is asked."""
    ssh = (*inside(lab, PROVISIONER), find("ssh", "openssh-client"))
    options = ("-i", str(lab.state.ssh_key), "-o", "BatchMode=yes", *ssh_options(lab).split())
    return tuple(
        Guest(node.name, ssh, (*options, f"root@{bare_address(node.management_address)}")) for node in plan.nodes
    )


def prepare(lab: Lab) -> None:
    """Make the folders of the state, and the SSH key that the plan of the guests names."""
    lab.state.make_folders()
    (lab.folder / "ssh").mkdir(mode=0o700)


def switch_on(lab: Lab, plan: SitePlan, cables: Cables, layers: Sequence[Path]) -> None:
    """Start the provisioner with what its playbook would have written, and the two guests."""
    state = lab.state
    ensure_secrets(plan, state)
    found = [with_speed(machine, cables) for machine in machines(plan, state, layers)]
    install_machines(plan, state, found)
    install_services(next(machine for machine in found if machine.name == PROVISIONER), plan)
    switch = PowerSwitch(state)
    for machine in found:
        switch.turn_on(machine)


def install_services(machine: Machine, plan: SitePlan) -> None:
    """Write boot files and images as the pxe role does, and let its services start."""
    if plan.provisioning is None:
        raise ValueError("the plan of the guests has a provisioner")
    upper = machine.path / "upper"
    for file in pxe_files(plan, plan.provisioning):
        text = Path(file.content_file).expanduser().read_text() if file.content_file else file.content or ""
        place = upper / file.path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    for copy in image_copies(plan.provisioning):
        place = upper / str(copy["path"]).lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(str(copy["source"]), place)
    for link in program_links(plan.provisioning):
        place = upper / link["path"].lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(link["target"])
    _enable(upper)


def _enable(upper: Path) -> None:
    wants = upper / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    folders: Mapping[str, str] = {DNSMASQ_UNIT: "/etc/systemd/system", "nginx": "/lib/systemd/system"}
    for unit in STARTED_UNITS:
        (wants / f"{unit}.service").symlink_to(f"{folders[unit]}/{unit}.service")
