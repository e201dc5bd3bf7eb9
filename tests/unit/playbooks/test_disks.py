"""Reading `lsblk` of both forms: what stands on a disk, and who uses it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import disks
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError


def device(name: str, kind: str, *children: dict[str, Any], **more: object) -> dict[str, Any]:
    """Return a device as `lsblk --json` writes it."""
    below = {"children": list(children)} if children else {}
    return {"name": name, "kname": more.pop("kname", name), "type": kind, "serial": None, **more, **below}


def uses(monkeypatch: pytest.MonkeyPatch, *found: dict[str, Any]) -> list[str]:
    """Return who uses the one disk of an output, on a kernel that would give it out."""
    monkeypatch.setattr(disks, "_held", lambda _path: [])
    monkeypatch.setattr(disks, "holders_of", lambda _name: [])
    (disk,) = disks.parse_disks(json.dumps({"blockdevices": found}))
    return disks.uses_of(disk)


@pytest.mark.parametrize(
    "mounted",
    [{"mountpoint": "/srv"}, {"mountpoints": ["/srv"]}, {"mountpoints": [None, "/srv"]}],
    ids=["before 2.37", "since 2.37", "with a gap"],
)
def test_n11_a_mounted_partition_is_seen_in_both_forms(
    monkeypatch: pytest.MonkeyPatch, mounted: dict[str, Any]
) -> None:
    """N11: `mountpoint` and `mountpoints` say the same of a partition."""
    disk = device("sda", "disk", device("sda1", "part", **mounted), **dict.fromkeys(mounted, None))
    assert uses(monkeypatch, disk) == ["sda1 is mounted at /srv"]


@pytest.mark.parametrize("empty", [{"mountpoint": None}, {"mountpoints": [None]}, {"mountpoints": []}, {}])
def test_nothing_mounted_is_nothing_in_both_forms(monkeypatch: pytest.MonkeyPatch, empty: dict[str, Any]) -> None:
    """An empty list, a list with nothing in it, and no mountpoint are all nobody."""
    assert uses(monkeypatch, device("sda", "disk", device("sda1", "part", **empty), **empty)) == []


@pytest.mark.parametrize(
    ("kind", "name"), [("raid1", "md0"), ("lvm", "vg0-root"), ("crypt", "luks-1"), ("mpath", "mpatha")]
)
def test_what_stands_on_a_partition_uses_the_disk(monkeypatch: pytest.MonkeyPatch, kind: str, name: str) -> None:
    """An array, a volume, an opened LUKS disk and a multipath device use the disks below them, mounted or not."""
    disk = device("sda", "disk", device("sda1", "part", device(name, kind)))
    assert uses(monkeypatch, disk) == [f"{name} ({kind}) stands on it"]


def test_swap_on_a_volume_uses_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Swap is found however deep it lies."""
    volume = device("vg0-swap", "lvm", kname="dm-1", mountpoints=["[SWAP]"])
    found = uses(monkeypatch, device("sda", "disk", device("sda1", "part", volume)))
    assert found[0] == "vg0-swap (lvm) stands on it" or "dm-1 is swap" in found


def test_drives_without_disks_are_left_out() -> None:
    """Optical drives and the like are no disks."""
    said = json.dumps({"blockdevices": [device("sr0", "rom"), device("nvme0n1", "disk")]})
    assert [disk["name"] for disk in disks.parse_disks(said)] == ["nvme0n1"]


def test_an_output_that_is_no_list_is_told() -> None:
    """What lsblk prints when it fails is an error with a text, not a crash."""
    with pytest.raises(FactError, match="no list of devices"):
        disks.parse_disks("lsblk: unknown column: MOUNTPOINTS")
