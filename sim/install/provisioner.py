"""
The provisioner of a rehearsal: the plan's own files, served by nginx and dnsmasq in a namespace.

They find their files at the paths that the plan gives: each runs in a mount namespace of its own, in which this
rehearsal's folders lie over `/srv`, nginx's settings and logs.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from coldaisle.plan.model import ProvisioningPlan, SitePlan
from coldaisle.render.boot import DNSMASQ_CONFIG, image_copies, program_links, pxe_files, router_address
from coldaisle.render.files import bare_address
from sim.errors import SimError
from sim.install.place import Lab
from sim.shell import find, run

OVERLAID = {
    "srv": "/srv",
    "etc/nginx/conf.d": "/etc/nginx/conf.d",
    # Debian's own page takes port 80 of every address, the mirror's too.
    "etc/nginx/sites-enabled": "/etc/nginx/sites-enabled",
    "var/log/nginx": "/var/log/nginx",
    "var/lib/misc": "/var/lib/misc",
}
"""Folders of the rehearsal, and what they lie over for its services."""

PROCESSES = ("nginx", "dnsmasq")
STATUS_LOG = "var/log/nginx/coldaisle-status.log"


def lay_out(lab: Lab, plan: SitePlan, provisioning: ProvisioningPlan) -> None:
    """
    Write the provisioner's files below the rehearsal's folder.

    Raises:
        SimError: a file of an image is missing, or is not the one that the plan pins.
    """
    for part in OVERLAID:
        (lab.served / part).mkdir(parents=True)
    run([find("ssh-keygen", "openssh-client"), "-q", "-t", "ed25519", "-N", "", "-f", lab.key_file])
    for file in pxe_files(plan, provisioning):
        path = _below(lab, file.path)
        text = file.content if file.content is not None else lab.key_file.with_suffix(".pub").read_text()
        path.write_text(text)
    for copy in image_copies(provisioning):
        _copy(Path(str(copy["source"])), _below(lab, str(copy["path"])), copy["sha256"])
    for link in program_links(provisioning):
        _below(lab, link["path"]).symlink_to(link["target"])


def _below(lab: Lab, path: str) -> Path:
    found = lab.served / path.removeprefix("/")
    found.parent.mkdir(parents=True, exist_ok=True)
    return found


def _copy(source: Path, target: Path, sha256: str | None) -> None:
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        fix = "put the image's files there, or correct source"
        raise SimError(str(source), "a file of the image cannot be read", str(error.strerror), fix) from error
    seen = hashlib.sha256(target.read_bytes()).hexdigest()
    if sha256 is not None and seen != sha256:
        fix = "verify the file; where it is right, pin this digest in provisioning.images"
        raise SimError(str(source), "the file is not the one that the plan pins", f"sha256 {seen}", fix)


def connect(lab: Lab, provisioning: ProvisioningPlan, mirror_address: str, tap: str, site: str) -> None:
    """Make the namespace: a bridge with the provisioner's and the mirror's address, and the machine's port."""
    ip = find("ip", "iproute2")
    run([ip, "netns", "add", lab.inside])
    bridge, prefix = provisioning.interface, provisioning.subnet.partition("/")[2]
    addresses = dict.fromkeys((bare_address(provisioning.host_address), mirror_address))
    for words in (
        f"link add {bridge} type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
        f"tuntap add dev {tap} mode tap",
        f"link set {tap} master {bridge} up",
        f"link set {bridge} up",
        "link set lo up",
        *(f"address add {address}/{prefix} dev {bridge}" for address in addresses),
        f"-6 address add {router_address(site)} dev {bridge} nodad",
    ):
        run([ip, "-n", lab.inside, *words.split()])


def start(lab: Lab) -> None:
    """Start nginx and dnsmasq with the plan's settings."""
    config = lab.served / DNSMASQ_CONFIG.removeprefix("/")
    programs = {
        "nginx": [find("nginx", "nginx-light"), "-g", "daemon off;"],
        "dnsmasq": [
            find("dnsmasq", "dnsmasq-base"),
            "--keep-in-foreground",
            "--log-facility=-",
            f"--conf-file={config}",
        ],
    }
    mounts = [f"mount --bind {lab.served / part} {over}" for part, over in OVERLAID.items()]
    script = " && ".join([*mounts, "mount -t tmpfs none /run", 'exec "$@"'])
    for name, command in programs.items():
        words = [
            find("unshare", "util-linux"),
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            script,
            name,
            *command,
        ]
        lab.groups.start(name, words, lab.logs / f"{name}.log", namespace=lab.inside)


def said(lab: Lab) -> list[str]:
    """Return what the installer has told so far: the last parts of the addresses under /status/."""
    log = lab.served / STATUS_LOG
    lines = log.read_text().splitlines() if log.exists() else []
    return [line.split('"')[1].split()[1].rpartition("/")[2] for line in lines if '"GET /status/' in line]
