"""
A UEFI firmware's own network boot against the plan's DHCP, TFTP and HTTP: no iPXE is in the card's ROM.

Some 15 CPU seconds each: the firmware, the first program, and the files of the image up to the kernel's first line.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.plan.model import NodePlan, ProvisioningPlan, SitePlan
from sim.install import guest, provisioner
from sim.install.place import Lab
from sim.twin.place import held
from tests.simcluster.live_cluster import wait

ROOT = Path(__file__).parents[2]
NEEDED = (guest.CODE, guest.VARIABLES, Path("/usr/lib/ipxe/snponly.efi"))
BOOT_S = 600

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(
        os.geteuid() != 0 or not all(path.exists() for path in NEEDED) or shutil.which("qemu-system-x86_64") is None,
        reason="needs root, QEMU, its UEFI firmware and iPXE",
    ),
]

ONLY_HTTP = [f"name=opt/org.tianocore/{kind}PXESupport,string=n" for kind in ("IPv4", "IPv6")]
"""Settings of the firmware: it asks for an HTTP address, instead of trying PXE first."""


@pytest.fixture
def site(tmp_path: Path) -> tuple[SitePlan, ProvisioningPlan, NodePlan]:
    """Return the rehearsal's plan with UEFI firmware, and a kernel and an initrd that are only fetched."""
    folder = tmp_path / "site"
    shutil.copytree(ROOT / "inventory/rehearsal", folder)
    catalog = folder / "catalog.yaml"
    catalog.write_text(catalog.read_text().replace("firmware: bios", "firmware: uefi"))
    name = folder / "site.yaml"
    name.write_text(name.read_text().replace("name: rehearsal", "name: firmware"))
    (tmp_path / "linux").write_bytes(os.urandom(64 << 10))
    with (tmp_path / "initrd.gz").open("wb") as file:
        file.truncate(64 << 20)  # more than lies in the sockets' buffers
    plan = open_site(folder).plan
    assert plan.provisioning is not None
    images = tuple(replace(image, source=str(tmp_path), sha256={}) for image in plan.provisioning.images)
    provisioning = replace(plan.provisioning, images=images, transfers=1)
    return replace(plan, provisioning=provisioning), provisioning, plan.nodes[0]


@pytest.fixture
def lab(site: tuple[SitePlan, ProvisioningPlan, NodePlan]) -> Iterator[Lab]:
    """Return a provisioner that runs; nothing of it stays."""
    plan, provisioning, node = site
    place = Lab(plan.name, node.name)
    with held(place):
        provisioner.lay_out(place, plan, provisioning)
        provisioner.connect(place, provisioning, provisioning.host_address, guest.tap_of(node), plan.name)
        provisioner.start(place)
        yield place


def fetched(lab: Lab, node: NodePlan, *options: str) -> list[str]:
    """Turn the node on without a boot ROM in its card, and return what it fetched over HTTP up to the kernel."""
    without_rom = [re.sub(r"^(virtio-net-pci,.*)", r"\1,romfile=", word) for word in guest.options(lab, node)]
    lab.disk.touch()
    os.truncate(lab.disk, 1 << 20)
    qemu = shutil.which("qemu-system-x86_64") or ""
    lab.groups.start(guest.PROCESS, [qemu, *without_rom, *options], lab.logs / "qemu.log", namespace=lab.inside)
    log, found = lab.served / "var/log/nginx/coldaisle.log", list[str]()
    deadline = time.monotonic() + BOOT_S
    while not any("linux" in path for path in found) and time.monotonic() < deadline:
        time.sleep(0.5)
        found = re.findall(r'"GET (\S+) HTTP/1.1" 200', log.read_text()) if log.exists() else []
    return found


SCRIPT, KERNEL = "/boot/52-54-00-03-01-01.ipxe", "/images/debian-13/linux"


def test_uefi_boots_over_tftp(lab: Lab, site: tuple[SitePlan, ProvisioningPlan, NodePlan]) -> None:
    """Firmware gets the program of its mode by TFTP, and that program the node's script and the kernel by HTTP."""
    assert fetched(lab, site[2])[:2] == [SCRIPT, KERNEL]
    assert "sent /srv/coldaisle/tftp/snponly.efi" in (lab.logs / "dnsmasq.log").read_text()


def test_uefi_boots_over_http_without_tftp(lab: Lab, site: tuple[SitePlan, ProvisioningPlan, NodePlan]) -> None:
    """Firmware that asks for an HTTP address gets the same program there, and no TFTP takes part."""
    settings = [word for setting in ONLY_HTTP for word in ("-fw_cfg", setting)]
    assert fetched(lab, site[2], *settings)[:3] == ["/tftp/snponly.efi", SCRIPT, KERNEL]
    assert "tftp/snponly.efi to" not in (lab.logs / "dnsmasq.log").read_text()


def test_who_comes_too_early_is_told_to_come_back(
    lab: Lab, site: tuple[SitePlan, ProvisioningPlan, NodePlan], tmp_path: Path
) -> None:
    """Of two transfers where one may be, the second is told when to come back, and is served after the first."""
    url = f"http://{site[1].host_address}:{site[1].http_port}/images/debian-13/initrd.gz"
    curl = ["nsenter", f"--net=/run/netns/{lab.inside}", "curl", "-s"]
    patient = [*curl, "-o", "/dev/null", "--retry-connrefused", "--retry-delay", "1", "--retry", "60", "-D", "-", url]
    assert " 200 " in subprocess.run(patient, capture_output=True, text=True, check=True).stdout, "it serves"
    begun = tmp_path / "begun"
    with subprocess.Popen([*curl, "-N", "-o", str(begun), "--limit-rate", "100k", url]) as slow:
        wait(lambda: begun.exists() and begun.stat().st_size)
        heads = subprocess.run([*curl, "-o", "/dev/null", "-D", "-", url], capture_output=True, text=True, check=True)
        slow.kill()
    assert " 503 " in heads.stdout
    assert "Retry-After: 5" in heads.stdout
    assert " 200 " in subprocess.run(patient, capture_output=True, text=True, check=True).stdout
