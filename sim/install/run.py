"""A rehearsal from power-on to SSH, and what it took."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coldaisle.plan.model import NodePlan, SitePlan
from coldaisle.render.boot import target_of
from coldaisle.render.install import Target
from coldaisle.render.recipes import ROOT_PARTITION
from sim.errors import SimError
from sim.install import archive, guest, mirror, provisioner
from sim.install.place import Lab
from sim.requirements import require_root
from sim.shell import find, run
from sim.twin.place import held

Progress = Callable[[str], None]

POLL_S = 5.0
SSH_S = 10
ANSWER_S = 600
"""An emulated machine on a busy one reads its packages' index for minutes; who says nothing longer is asked again."""

LAST_LINES = 12
LOOK = {
    "name": "hostname",
    "root": "findmnt -no SOURCE /",
    "filesystem": "findmnt -no FSTYPE /",
    "serials": "find /sys/block -follow -maxdepth 2 -name serial -exec cat {} +",
    "arguments": "cat /proc/cmdline",
    "suite": "sed -n s/^VERSION_CODENAME=//p /etc/os-release",
    "password": "sed -n 's/^root:\\([^:]*\\):.*/\\1/p' /etc/shadow",
    "packages": "apt-get -qq update && echo trusted",
}
"""What is asked of the installed machine: a name, and the command whose output is the answer, in one line."""

QUESTIONS = "; ".join(f"echo {name}=$({command} 2>/dev/null)" for name, command in LOOK.items())


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """
    What a rehearsal took, in seconds since power-on, and what the installed machine said of itself.

    `cpu_s` is the emulated machine's, its firmware's and its installer's.
    """

    node: str
    image: str
    disks_chosen_s: float
    installed_s: float
    ssh_s: float
    cpu_s: float
    answers: tuple[str, ...]


def rehearse(plan: SitePlan, name: str, timeout_s: float, progress: Progress) -> Rehearsal:
    """
    Install a node of a plan on an empty disk in a namespace of its own, boot it from there, and log in.

    Raises:
        SimError: the node is not installed by preseed, the installer stopped, or nothing answered in `timeout_s`.
    """
    require_root()
    wanted = _subject(plan, name)
    node, image = wanted.node, wanted.image
    guest.serial_of(node)
    lab = Lab(plan.name, name)
    mirror.ensure_installer(image, progress)
    mirror.require_modules(image)
    packages = (*wanted.packages, *image.kernel_package.split())
    root = archive.ensure(image.suite, mirror.upstream(), packages, progress)
    with held(lab):
        signed = mirror.with_own_key(plan, image, root, lab.folder / "image")
        provisioning = _subject(signed, name).provisioning
        provisioner.lay_out(lab, signed, provisioning)
        provisioner.connect(lab, provisioning, mirror.address_of(image), guest.tap_of(node), plan.name)
        mirror.start(lab, image, root)
        provisioner.start(lab)
        progress(f"{name} is turned on, with an empty disk")
        return _watched(lab, wanted, timeout_s, progress)


def _subject(plan: SitePlan, name: str) -> Target:
    node = next((node for node in plan.nodes if node.name == name), None)
    if node is None:
        raise SimError(name, "the plan has no such node", f"{len(plan.nodes)} nodes", "name one of the plan")
    target = target_of(plan, plan.provisioning, node) if plan.provisioning and node.boot == "network" else None
    if target is None or target.image.kind != "preseed" or node.architecture != "x86_64":
        have = f"image kind {target.image.kind}, {node.architecture}" if target else "it has no installer"
        fix = "name a node of a pool with a preseed image, on x86_64"
        raise SimError(name, "only Debian's installer can be had and run here", have, fix)
    return target


def _watched(lab: Lab, target: Target, timeout_s: float, progress: Progress) -> Rehearsal:
    node, image = target.node, target.image
    guest.start(lab, node)
    started = time.monotonic()

    def until(what: str, true: Callable[[], bool]) -> float:
        while not true():
            if time.monotonic() - started > timeout_s:
                raise _stuck(lab, f"{what} did not happen in {timeout_s:.0f} s")
            time.sleep(POLL_S)
        progress(f"{node.name}: {what}")
        return time.monotonic() - started

    disks_s = until("the installer has chosen its disks", lambda: _told(lab, "disks"))
    installed_s = until("Debian is installed", lambda: _told(lab, "installed"))
    answers: list[str] = []
    ssh_s = until("it answers over SSH from its disk", lambda: _logged_in(lab, node, answers))
    cpu_s = _cpu_s(lab)
    found = wrong(target, answers)
    if found:
        raise _stuck(lab, f"{'; '.join(found)}; it said: {shlex.quote(' '.join(answers)[:400])}")
    return Rehearsal(node.name, image.name, disks_s, installed_s, ssh_s, cpu_s, tuple(answers))


def _told(lab: Lab, what: str) -> bool:
    """Tell whether the installer said so; SimError when it said that it stopped, or its machine is gone."""
    said = provisioner.said(lab)
    stopped = [word for word in said if word.startswith("stopped")]
    if stopped:
        raise _stuck(lab, f"the installer stopped: {stopped[0].rpartition('=')[2].replace('+', ' ').strip()}")
    for name in (guest.PROCESS, mirror.PROCESS, *provisioner.PROCESSES):
        if not lab.groups.pids(name):
            raise _stuck(lab, f"{name} has ended")
    return what in said


def _logged_in(lab: Lab, node: NodePlan, answers: list[str]) -> bool:
    options = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes"]
    options += ["-o", f"ConnectTimeout={SSH_S}", "-o", "LogLevel=ERROR", "-i", str(lab.key_file)]
    address = node.management_address.partition("/")[0]
    inside = [find("nsenter", "util-linux"), f"--net=/run/netns/{lab.inside}"]
    words = [*inside, find("ssh", "openssh-client"), *options, f"root@{address}", QUESTIONS]
    try:
        done = run(words, check=False, timeout_s=ANSWER_S)
    except subprocess.TimeoutExpired:
        return False
    answers[:] = done.stdout.splitlines()
    return done.returncode == 0


def wrong(target: Target, lines: Sequence[str]) -> list[str]:
    """Return what an installed machine says of itself, a line each as in `LOOK`, that is not as the plan has it."""
    said = {name: value for name, _, value in (line.partition("=") for line in lines)}
    serial, install = target.node.disks[0].value, target.install
    good = {
        f"its name is not {target.node.name}": said.get("name") == target.node.name,
        f"it has no disk {serial}": serial in said.get("serials", "").split(),
        "its root is not on the planned partition": install.encryption is not None
        or re.fullmatch(rf"/dev/\w+?p?{ROOT_PARTITION}", said.get("root", "")) is not None,
        f"its root is no {install.filesystem}": said.get("filesystem") == install.filesystem,
        "it still runs the installer": "preseed.cfg" not in said.get("arguments", "preseed.cfg"),
        f"it is not {target.image.suite}": said.get("suite") == target.image.suite,
        "root has a password": said.get("password") == "*",
        "its apt does not trust the mirror": said.get("packages") == "trusted",
    }
    return [what for what, is_so in good.items() if not is_so]


def _cpu_s(lab: Lab) -> float:
    """Return the CPU seconds of the emulated machine."""
    ticks = 0
    for pid in lab.groups.pids(guest.PROCESS):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _stuck(lab: Lab, what: str) -> SimError:
    """Return an error with the end of the console, kept where the rehearsal's folder is gone."""
    console = lab.logs / "console.log"
    tail = console.read_text(errors="replace").splitlines()[-LAST_LINES:] if console.exists() else []
    return SimError(
        lab.fabric, what, "\n        ".join(tail) or "the console is empty", "read the console's last lines"
    )
