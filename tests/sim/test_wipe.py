"""
Wiping disks, on real loop devices with real file systems: who consented, what is in use, and that it ends.

Loop devices have no serial, so a small `lsblk` in front of the real one gives them theirs, in the form of a version.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import disks, erasing, run_wipe

NODE = "r01-n03"
SIZE_BYTES = 24 << 20

LSBLK = """#!/usr/bin/python3
import json, subprocess, sys
words, old, serials = sys.argv[1:], {old!r}, json.load(open({table!r}))
if old and "MOUNTPOINTS" in words[-1]:
    sys.exit("lsblk: unknown column: MOUNTPOINTS")
done = subprocess.run(["/usr/bin/lsblk", *words], capture_output=True, text=True, check=True)
said = json.loads(done.stdout)
said["blockdevices"] = [dict(device, serial=serials.get(device["kname"])) for device in said["blockdevices"]]
print(json.dumps(said))
"""


def _can_loop() -> bool:
    return os.geteuid() == 0 and subprocess.run(["losetup", "-f"], capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not _can_loop(), reason="needs root and loop devices")


@dataclass
class Bench:
    """Loop devices by serial, a folder, and how `lsblk` speaks."""

    folder: Path
    path: dict[str, str] = field(default_factory=dict)
    consent: dict[str, list[str]] = field(default_factory=dict)

    def disk(self, serial: str, *make: str, read_only: bool = False, on: Path | None = None) -> str:
        """Attach a disk that `make` has written on (`mkfs.ext4 -q` …) and that lies on `on`, and return its path."""
        file = (on or self.folder) / f"{serial}.img"
        with file.open("wb") as image:
            image.truncate(SIZE_BYTES)
        if make:
            subprocess.run([*make, str(file)], check=True, capture_output=True)
        options = ["--find", "--show", "--partscan", *(["--read-only"] if read_only else [])]
        self.path[serial] = subprocess.run(
            ["losetup", *options, str(file)], check=True, capture_output=True, text=True
        ).stdout.strip()
        table = {path.removeprefix("/dev/"): name for name, path in self.path.items()}
        (self.folder / "serials.json").write_text(json.dumps(table))
        self.consent.setdefault(NODE, []).append(serial)
        return self.path[serial]

    def speak(self, *, old: bool) -> None:
        """Let `lsblk` speak as before util-linux 2.37, or as since."""
        program = self.folder / "bin/lsblk"
        program.write_text(LSBLK.format(old=old, table=str(self.folder / "serials.json")))
        program.chmod(0o755)

    def wipe(self, *serials: str, check: bool = False, **more: object) -> dict[str, Any]:
        """Run the module's program."""
        params = {"node": NODE, "disks": list(serials), "consent": self.consent, **more}
        return run_wipe.run(params, check=check)

    def signatures(self, serial: str) -> str:
        """Return what blkid finds on the disk itself."""
        done = subprocess.run(["blkid", "-p", self.path[serial]], capture_output=True, text=True, check=False)
        return done.stdout


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """Return an empty bench on a host that has the node's name; its loop devices are detached at the end."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin")
    monkeypatch.setattr(socket, "gethostname", lambda: NODE)
    made = Bench(tmp_path)
    made.speak(old=False)
    yield made
    for path in made.path.values():
        subprocess.run(["losetup", "--detach", path], check=False)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Return a function that mounts a disk; it is unmounted at the end."""
    points: list[Path] = []

    def mount(path: str) -> Path:
        point = tmp_path / f"mnt{len(points)}"
        point.mkdir()
        subprocess.run(["mount", path, str(point)], check=True)
        points.append(point)
        return point

    yield mount
    for point in points:
        subprocess.run(["umount", str(point)], check=False)


def partitioned(path: str) -> None:
    """Write a partition table (MBR: type 83 from sector 2048 on) and something at its end, for the kernel to read."""
    entry = struct.pack("<B3sB3sII", 0, b"", 0x83, b"", 2048, 16384)
    with Path(path).open("r+b") as disk:
        disk.seek(446)
        disk.write(entry.ljust(64, b"\0") + b"\x55\xaa")
        disk.seek(-512, os.SEEK_END)
        disk.write(b"EFI PART")
    subprocess.run(["blockdev", "--rereadpt", path], check=True)


def states(result: dict[str, Any]) -> dict[str, str]:
    """Return the state of each disk."""
    return {line["serial"]: line["state"] for line in result["disks"]}


@pytest.mark.parametrize("old", [False, True], ids=["mountpoints", "mountpoint"])
def test_n11_a_mounted_disk_is_never_wiped(bench: Bench, mounted: Callable[[str], Path], *, old: bool) -> None:
    """N11: in either form of lsblk a mounted disk is refused by name, with consent too, and nothing else is wiped."""
    bench.speak(old=old)
    point = mounted(bench.disk("SER-A", "mkfs.ext4", "-q"))
    bench.disk("SER-B", "mkfs.ext4", "-q")
    (point / "kept").write_text("kept")
    result = bench.wipe("SER-A", "SER-B")
    assert states(result) == {"SER-A": "refused", "SER-B": "to wipe"}
    assert f"is mounted at {point}" in result["msg"]
    assert "SER-A" in result["msg"]
    assert (result["failed"], result["changed"]) == (True, False)
    assert (point / "kept").read_text() == "kept"
    assert 'TYPE="ext4"' in bench.signatures("SER-B")


def test_n11_a_mount_that_lsblk_does_not_see_counts(bench: Bench) -> None:
    """N11: a disk that another mount namespace has mounted is refused, since the kernel does not give it out."""
    path = bench.disk("SER-A", "mkfs.ext4", "-q")
    point = bench.folder / "elsewhere"
    point.mkdir()
    inner = f"mount {path} {point} && touch {bench.folder}/ready && exec sleep 60"
    with subprocess.Popen(["unshare", "--mount", "sh", "-c", inner]) as process:
        deadline = time.monotonic() + 20
        while not (bench.folder / "ready").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        result = bench.wipe("SER-A")
        process.kill()
    assert states(result) == {"SER-A": "refused"}
    assert "does not give" in result["msg"]


def test_swap_is_in_use(bench: Bench) -> None:
    """A disk that is swap is refused."""
    path = bench.disk("SER-A", "mkswap")
    subprocess.run(["swapon", path], check=True)
    try:
        result = bench.wipe("SER-A")
    finally:
        subprocess.run(["swapoff", path], check=True)
    assert states(result) == {"SER-A": "refused"}
    assert "is swap" in result["msg"]


@pytest.mark.parametrize("old", [False, True], ids=["mountpoints", "mountpoint"])
def test_a_wiped_disk_has_no_signature_left(bench: Bench, *, old: bool) -> None:
    """Signatures, partitions and the table's copy at the end are gone, and a second run finds nothing to do."""
    bench.speak(old=old)
    path = bench.disk("SER-A")
    partitioned(path)
    if Path(f"{path}p1").exists():  # not every kernel reads partition tables
        subprocess.run(["mkfs.ext4", "-q", f"{path}p1"], check=True)
    assert 'PTTYPE="dos"' in bench.signatures("SER-A")
    assert bench.wipe("SER-A", check=True)["disks"][0]["state"] == "to wipe"
    result = bench.wipe("SER-A")
    assert (states(result), result["changed"], result.get("failed")) == ({"SER-A": "wiped"}, True, None)
    assert not bench.signatures("SER-A")
    assert not Path(f"{path}p1").exists()
    assert not disks.has_data_at_ends(path)
    again = bench.wipe("SER-A")
    assert (states(again), again["changed"]) == ({"SER-A": "blank"}, False)


def test_n12_a_disk_that_cannot_be_wiped_is_named_and_ends_it(bench: Bench) -> None:
    """N12: one disk refuses every write: it is tried twice and named, the other is wiped, and the run is over."""
    bench.disk("SER-BAD", "mkfs.ext4", "-q", read_only=True)
    bench.disk("SER-OK", "mkfs.ext4", "-q")
    count = bench.folder / "count"
    tool = bench.folder / "bin/wipefs"
    tool.write_text(f'#!/bin/sh\necho "$@" >>{count}\nexec {shutil.which("wipefs", path="/usr/sbin:/sbin")} "$@"\n')
    tool.chmod(0o755)
    result = bench.wipe("SER-BAD", "SER-OK")
    assert states(result) == {"SER-BAD": "failed", "SER-OK": "wiped"}
    assert "SER-BAD" in result["msg"]
    assert "SER-OK" not in result["msg"]
    tried = [line for line in count.read_text().splitlines() if "--all" in line and bench.path["SER-BAD"] in line]
    assert len(tried) == run_wipe.ATTEMPTS


def test_consent_names_the_node_and_the_disk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Consent for another node, or for another disk, wipes nothing; nor does a host with another name."""
    bench.disk("SER-A", "mkfs.ext4", "-q")
    other_disk = bench.wipe("SER-A", consent={NODE: ["SER-B"]})
    other_node = bench.wipe("SER-A", consent={"r01-n04": ["SER-A"]})
    monkeypatch.setattr(socket, "gethostname", lambda: "r01-n04")
    other_host = bench.wipe("SER-A")
    assert [states(result).get("SER-A") for result in (other_disk, other_node)] == ["refused", "refused"]
    assert "consent names SER-B" in other_disk["msg"]
    assert "this host says that it is r01-n04" in other_host["msg"]
    assert 'TYPE="ext4"' in bench.signatures("SER-A")


def test_a_serial_that_no_disk_or_two_disks_have_is_refused(bench: Bench) -> None:
    """A serial stands for exactly one disk."""
    bench.disk("SER-A")
    bench.disk("SER-TWICE")
    second = bench.disk("SER-B")
    table = json.loads((bench.folder / "serials.json").read_text())
    table[second.removeprefix("/dev/")] = "SER-TWICE"
    (bench.folder / "serials.json").write_text(json.dumps(table))
    bench.consent[NODE].append("SER-NONE")
    result = bench.wipe("SER-TWICE", "SER-NONE")
    assert [line["why"] for line in result["disks"]] == [
        f"2 disks of {NODE} have this serial",
        f"0 disks of {NODE} have this serial",
    ]


def test_an_overwritten_disk_is_zero_in_the_middle_too(bench: Bench) -> None:
    """Bytes far from both ends go by `overwrite` only, which reads all back; a disk that looks blank is written too."""
    path = bench.disk("SER-A", "mkfs.ext4", "-q")
    secret = b"a customer's key"
    with Path(path).open("r+b") as disk:
        disk.seek(SIZE_BYTES // 2)
        disk.write(secret)
    bench.wipe("SER-A")
    assert secret in Path(path).read_bytes()
    [line] = bench.wipe("SER-A")["disks"]
    assert (line["state"], line["method"], line["verified"]) == ("blank", "signatures", True)
    [line] = bench.wipe("SER-A", method="overwrite")["disks"]
    assert (line["state"], line["method"], line["verified"]) == ("wiped", "overwrite", True)
    assert Path(path).read_bytes() == bytes(SIZE_BYTES)


def test_an_overwrite_that_did_not_reach_the_disk_is_not_verified(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that takes writes and keeps what it had is read back, named, and in no certificate."""
    path = bench.disk("SER-A")
    with Path(path).open("r+b") as disk:
        disk.seek(SIZE_BYTES // 2)
        disk.write(b"kept")
    monkeypatch.setattr(run_wipe, "overwrite", lambda _path: None)
    result = bench.wipe("SER-A", method="overwrite")
    [line] = result["disks"]
    assert (result["failed"], line["state"], line["verified"]) == (True, "failed", False)
    assert "bytes that are not zero" in line["why"]


def filled(bench: Bench, serial: str, on: Path | None = None) -> None:
    """Attach a disk with a secret in its middle."""
    path = bench.disk(serial, "mkfs.ext4", "-q", on=on)
    with Path(path).open("r+b") as disk:
        disk.seek(SIZE_BYTES // 2)
        disk.write(b"a customer's key")


def tool(bench: Bench, name: str, text: str) -> Path:
    """Put a program in front of the real one, and return the file that it writes its words into."""
    log, program = bench.folder / f"{name}.log", bench.folder / "bin" / name
    program.write_text(f'#!/bin/sh\necho "$@" >>{log}\n{text}\n')
    program.chmod(0o755)
    return log


@pytest.fixture
def memory() -> Iterator[Path]:
    """Return a folder in memory: a disk that lies there does not turn, and takes blocks back."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def test_flash_is_overwritten_and_gives_its_blocks_back(bench: Bench, memory: Path) -> None:
    """A real block device that takes discards: all zero, read back, and nothing is left of it on what carries it."""
    filled(bench, "SER-A", on=memory)
    image = memory / "SER-A.img"
    assert image.stat().st_blocks
    [line] = bench.wipe("SER-A", method="erase")["disks"]
    assert (line["state"], line["method"], line["verified"]) == ("wiped", "discard", True)
    assert Path(bench.path["SER-A"]).read_bytes() == bytes(SIZE_BYTES)
    assert image.stat().st_blocks == 0


def test_a_disk_that_turns_is_overwritten(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes nothing back, so nothing is asked of it; its zeros are on it."""
    filled(bench, "SER-A")
    monkeypatch.setattr(erasing, "takes_back", lambda _name: False)
    asked = tool(bench, "blkdiscard", "exit 1")
    [line] = bench.wipe("SER-A", method="erase")["disks"]
    assert (line["state"], line["method"]) == ("wiped", "overwrite")
    assert Path(bench.path["SER-A"]).read_bytes() == bytes(SIZE_BYTES)
    assert not asked.exists()


@pytest.mark.parametrize("lies", [False, True], ids=["erases", "says that it has"])
def test_an_nvme_drive_erases_itself_and_is_not_believed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, *, lies: bool
) -> None:
    """Its own command, once, with user data erase; what it has left is found by reading, and written over."""
    filled(bench, "SER-A")
    monkeypatch.setattr(erasing, "is_alone", lambda _name: True)
    does = "exit 0" if lies else f"exec dd if=/dev/zero of=$2 bs=1M count={SIZE_BYTES >> 20} conv=notrunc status=none"
    asked = tool(bench, "nvme", does)
    [line] = bench.wipe("SER-A", method="erase")["disks"]
    assert (line["state"], line["method"], line["verified"]) == ("wiped", "format", True)
    assert asked.read_text() == f"format {bench.path['SER-A']} --ses=1 --force\n"
    assert Path(bench.path["SER-A"]).read_bytes() == bytes(SIZE_BYTES)


def test_a_drive_that_refuses_its_command_is_overwritten_and_the_result_says_so(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No certificate speaks of a format that did not happen."""
    filled(bench, "SER-A")
    monkeypatch.setattr(erasing, "is_alone", lambda _name: True)
    monkeypatch.setattr(erasing, "takes_back", lambda _name: False)
    tool(bench, "nvme", "echo 'NVMe status: Invalid Command Opcode' >&2; exit 1")
    [line] = bench.wipe("SER-A", method="erase")["disks"]
    assert (line["state"], line["method"], line["verified"]) == ("wiped", "overwrite", True)


def test_a_mounted_drive_is_asked_nothing(
    bench: Bench, mounted: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`nvme format` would not look who uses the drive, so we do before."""
    monkeypatch.setattr(erasing, "is_alone", lambda _name: True)
    asked = tool(bench, "nvme", "exit 0")
    (mounted(bench.disk("SER-A", "mkfs.ext4", "-q")) / "kept").write_text("kept")
    result = bench.wipe("SER-A", method="erase")
    assert (states(result), result["changed"], asked.exists()) == ({"SER-A": "refused"}, False, False)


def test_a_drive_with_two_namespaces_is_not_formatted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many drives format every namespace at once, and nobody agreed to lose the other."""
    monkeypatch.setattr(erasing, "_BLOCK", tmp_path)
    for name in ("nvme0n1", "nvme1n1", "nvme1n2", "nvme10n1", "sda"):
        (tmp_path / name).mkdir()
    found = {path.name: erasing.is_alone(path.name) for path in tmp_path.iterdir()}
    assert found == {"nvme0n1": True, "nvme1n1": False, "nvme1n2": False, "nvme10n1": True, "sda": False}
