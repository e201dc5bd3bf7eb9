"""Files of installations, held by their own tools, and the script that finds disks, run on disks of files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # it has no types of its own
import pytest
import yaml
from pykickstart.parser import KickstartParser
from pykickstart.version import makeVersion

from coldaisle.check import open_site
from coldaisle.plan.model import SitePlan
from coldaisle.render.boot import pxe_files

HERE = Path(__file__).parent
CASES = HERE.parent / "cases"
MIB = 1 << 20


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> SitePlan:
    """Return the plan of a site with a pool for each installer."""
    site = tmp_path_factory.mktemp("installed") / "site"
    shutil.copytree(CASES / "base", site)
    shutil.copytree(CASES / "good/installed_images", site, dirs_exist_ok=True)
    return open_site(site).plan


def served(plan: SitePlan, ending: str) -> str:
    """Return a file of the provisioner by the end of its path."""
    assert plan.provisioning is not None
    return next(file.content or "" for file in pxe_files(plan, plan.provisioning) if file.path.endswith(ending))


def arguments(plan: SitePlan, mac: str) -> list[str]:
    """Return the words of the kernel's line in a node's boot script."""
    lines = served(plan, f"boot/{mac}.ipxe").splitlines()
    return next(line for line in lines if line.startswith("kernel ")).split()


# -- what the installers read --------------------------------------------------------------------------------------
@pytest.mark.skipif(shutil.which("debconf-set-selections") is None, reason="needs debconf")
def test_debconf_takes_the_preseed(plan: SitePlan, tmp_path: Path) -> None:
    """Debian's own tool finds no fault with a preseed, and finds one in a line that is none."""
    file = tmp_path / "preseed.cfg"
    for text, good in ((served(plan, "r01-n01/preseed.cfg"), True), ("d-i only-two\n", False)):
        file.write_text(text)
        done = subprocess.run(["debconf-set-selections", "-c", str(file)], capture_output=True, text=True, check=False)
        assert (done.returncode == 0 and "error" not in done.stderr) is good, done.stderr


def test_root_has_a_hash_that_is_no_password(plan: SitePlan) -> None:
    """Debian 13's installer takes `!` for an answer that is missing, and asks; `*` is one, and fits no password."""
    assert "d-i passwd/root-password-crypted password *\n" in served(plan, "r01-n01/preseed.cfg")


def test_the_installer_takes_packages_by_the_sites_keys(plan: SitePlan, tmp_path: Path) -> None:
    """Keys of the image take the place of Debian's, for the installer and, by a hook, for apt of the new system."""
    assert "preseed/early_command string wget -q -O /tmp/early.sh" in served(plan, "r01-n01/preseed.cfg")
    machine = Machine(tmp_path)
    keys = tmp_path / "usr/share/keyrings"
    keys.mkdir(parents=True)
    (keys / "debian.gpg").write_text("theirs")
    (keys / "archive.gpg").symlink_to("debian.gpg")
    machine.tool("wget", 'echo "$4" >"$3"')
    assert machine.run(served(plan, "r01-n01/early.sh")) == 0
    assert (keys / "archive.gpg").read_text() == "http://198.18.1.2:8080/images/debian-12/mirror.gpg\n"
    assert (keys / "debian.gpg").read_text() == "theirs"
    hook = tmp_path / "usr/lib/base-installer.d/10coldaisle"
    assert hook.stat().st_mode & 0o111
    assert "cp /usr/share/keyrings/archive.gpg /target/etc/apt/trusted.gpg.d/" in hook.read_text()


def test_the_autoinstall_fits_its_schema(plan: SitePlan) -> None:
    """Ubuntu's file has the keys and kinds of the reference, and its actions name only what was made before them."""
    text = served(plan, "r01-n04/user-data")
    assert text.startswith("#cloud-config\n")
    wanted = yaml.safe_load(text)
    jsonschema.validate(wanted, json.loads((HERE / "schemas/autoinstall.schema.json").read_text()))
    made: set[str] = set()
    for action in wanted["autoinstall"]["storage"]["config"]:
        named = {action[key] for key in ("device", "volume") if key in action} | set(action.get("devices", ()))
        assert named <= made
        made.add(action["id"])


def test_the_kickstart_parses(plan: SitePlan, tmp_path: Path) -> None:
    """Pykickstart reads a kickstart together with the lines that its script writes on the machine."""
    machine = Machine(tmp_path)
    machine.disk("nvme0n1", wwn="0x5000c500a1b2c3d4")
    machine.run(served(plan, "r01-n03/disks.sh"))
    found = (tmp_path / "tmp/disks.ks").read_text()
    text = served(plan, "r01-n03/ks.cfg").replace("%include /tmp/disks.ks\n", found)
    parser = KickstartParser(makeVersion("RHEL9"))
    parser.readKickstartFromString(text)
    root = next(part for part in parser.handler.partition.partitions if part.mountpoint == "/")
    assert (root.disk, root.fstype, root.encrypted, root.luks_version) == ("nvme0n1", "xfs", True, "luks2")
    assert parser.handler.ignoredisk.onlyuse == ["nvme0n1"]
    assert parser.handler.clearpart.drives == ["nvme0n1"]


def test_each_installer_is_told_where_its_answers_are(plan: SitePlan) -> None:
    """The kernel's line names the node's own file, and the port by its MAC address."""
    debian, rocky, ubuntu = (arguments(plan, f"52-54-00-01-0{number}-01") for number in (1, 3, 4))
    seed = "http://198.18.1.2:8080/seed"
    assert {"auto=true", "priority=critical", f"url={seed}/r01-n01/preseed.cfg"} <= set(debian)
    assert {f"inst.ks={seed}/r01-n03/ks.cfg", "BOOTIF=01-52-54-00-01-03-01"} <= set(rocky)
    assert {"autoinstall", f"ds=nocloud;s={seed}/r01-n04/", "cloud-config-url=/dev/null"} <= set(ubuntu)


def test_installed_nodes_try_their_disk_first(plan: SitePlan) -> None:
    """A disk without a system does not boot, and the network comes next."""
    orders = {node.name: node.bmc.boot_order for node in plan.nodes if node.bmc}
    assert orders["r01-n01"] == ("disk", "pxe")


# -- the script that finds disks -----------------------------------------------------------------------------------
@dataclass
class Machine:
    """A folder that looks like a machine with disks, and tools on PATH that write down what they are asked."""

    root: Path

    def __post_init__(self) -> None:
        """Make the folders and the tools."""
        for part in ("dev", "sys/block", "proc", "tmp", "run", "udev", "bin"):
            (self.root / part).mkdir(parents=True, exist_ok=True)
        for table in ("mounts", "swaps"):
            (self.root / "proc" / table).write_text("")
        self.tool("udevadm", f'for word; do case $word in --name=*) cat "{self.root}/udev/${{word##*/}}";; esac; done')
        self.tool("wget", f'for url; do :; done; echo "$url" >>{self.root}/told')
        self.tool("debconf-set", f'echo "$1=$2" >>{self.root}/answers')

    def tool(self, name: str, script: str) -> None:
        """Put a program on the machine's PATH."""
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def disk(self, name: str, content: bytes = b"", **marks: str) -> Path:
        """Attach a disk of 4 MiB that begins with `content`; marks are serial, wwn or model."""
        keys = {"serial": "ID_SERIAL_SHORT", "wwn": "ID_WWN", "model": "ID_MODEL"}
        path = self.root / "dev" / name
        path.write_bytes(content.ljust(4 * MIB, b"\0"))
        (self.root / "sys/block" / name).mkdir()
        (self.root / "sys/block" / name / "size").write_text(str(4 * MIB // 512))
        lines = [f"{keys[mark]}={value}" for mark, value in marks.items()]
        (self.root / "udev" / name).write_text("\n".join(lines) + "\n")
        return path

    def run(self, script: str) -> int:
        """Run a script as the machine would, and return its exit status."""
        environment = {"ROOT": str(self.root), "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}"}
        return subprocess.run(["sh", "-s"], input=script, text=True, env=environment, check=False).returncode

    def read(self, name: str) -> str:
        """Return what a tool wrote down, or what the console shows."""
        path = self.root / name
        return path.read_text() if path.exists() else ""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a machine without disks."""
    return Machine(tmp_path)


@pytest.fixture
def script(plan: SitePlan) -> str:
    """Return the script of a node with two disks by serial, both with consent."""
    return served(plan, "r01-n01/disks.sh")


def test_disks_are_found_by_serial_whatever_they_are_called(machine: Machine, script: str) -> None:
    """The installer is told the names that the planned disks have today, and the members of their array."""
    for name, serial in (("sda", "OTHER"), ("sdb", "SER-1B"), ("nvme0n1", "SER-1A")):
        machine.disk(name, serial=serial)
    assert machine.run(script) == 0
    answers = dict(line.split("=", 1) for line in machine.read("answers").splitlines())
    assert answers["partman-auto/disk"] == "/dev/nvme0n1 /dev/sdb"
    assert answers["partman-auto-raid/recipe"] == "1 2 0 ext4 / /dev/nvme0n1p3#/dev/sdb3 ."
    assert machine.read("told").splitlines()[-1].endswith("/status/r01-n01/disks")


def test_a_disk_that_is_missing_stops_the_installer(machine: Machine, script: str) -> None:
    """A serial that no disk has ends it with the reason, on the console and at the provisioner."""
    machine.disk("sda", serial="SER-1A")
    assert machine.run(script) == 1
    assert "STOPPED: 0 disks have the serial SER-1B, and the plan has 1" in machine.read("dev/console")
    assert "stopped?why=0+disks+have+the+serial+SER+1B" in machine.read("told")
    assert not machine.read("answers")


def test_a_mounted_disk_stops_the_installer(machine: Machine, script: str) -> None:
    """A disk of which a partition is mounted is never written, with consent too."""
    paths = [machine.disk(name, b"data", serial=serial) for name, serial in (("sda", "SER-1A"), ("sdb", "SER-1B"))]
    (machine.root / "proc/mounts").write_text("/dev/sda2 /srv ext4 rw 0 0\n")
    assert machine.run(script) == 1
    assert "sda (serial SER-1A) is in use" in machine.read("dev/console")
    assert all(path.read_bytes().startswith(b"data") for path in paths)


def test_a_disk_with_data_needs_consent(machine: Machine, script: str) -> None:
    """Without consent a disk that is not blank stops it; with consent its ends are cleared first."""
    first = machine.disk("sda", b"data", serial="SER-1A")
    machine.disk("sdb", serial="SER-1B")
    assert machine.run(script.replace('consent="SER-1A SER-1B"', 'consent="SER-1B"')) == 1
    assert "nobody consented to its loss" in machine.read("dev/console")
    assert first.read_bytes().startswith(b"data")
    assert machine.run(script) == 0
    assert not first.read_bytes().strip(b"\0")


def test_n12_a_disk_that_keeps_what_it_has_stops_the_installer(machine: Machine, script: str) -> None:
    """N12: a disk that takes no writes is named once, and nothing starts again."""
    machine.disk("sda", b"data", serial="SER-1A")
    machine.disk("sdb", serial="SER-1B")
    machine.tool("dd", f'case "$*" in *if=/dev/zero*) exit 0;; esac; exec {shutil.which("dd")} "$@"')
    assert machine.run(script) == 1
    assert machine.read("dev/console").count("cannot be wiped") == 1
    assert "disk sda (serial SER-1A) cannot be wiped" in machine.read("dev/console")


def test_a_model_stands_for_all_its_disks(machine: Machine, plan: SitePlan) -> None:
    """A choice by model takes exactly as many disks as the plan has, so that a third one is not passed over."""
    ubuntu = served(plan, "r01-n04/disks.sh")
    for name in ("sda", "sdb"):
        machine.disk(name, model="SIM-DISK")
    assert machine.run(ubuntu) == 0
    machine.disk("sdc", model="SIM-DISK")
    assert machine.run(ubuntu) == 1
    assert "3 disks have the model SIM-DISK, and the plan has 2" in machine.read("dev/console")
