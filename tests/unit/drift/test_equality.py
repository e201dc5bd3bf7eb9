"""When a seen value counts as the planned one."""

from __future__ import annotations

import pytest

from coldaisle.drift import CouldNotTell, Drifted, Fact, Same, compare, same


@pytest.mark.parametrize(
    ("name", "planned", "seen"),
    [
        ("mtu.rail0", 9000, 9000.0),
        ("mtu.rail0", 9000, 9216),
        ("vfs.rail0", 8, "8"),
        ("persistence", True, "true"),
        ("node_ready", True, "True"),
        ("driver", "580.9", "580.65.06"),
        ("hugepages_2mi", 1024, 2048),
        ("memlock", "unlimited", "unlimited"),
        ("memlock", "1048576", "unlimited"),
        ("timezone", "UTC", "Etc/UTC"),
        ("virtual_media", "https://192.0.2.1/boot.iso", "boot.iso"),
        ("bios.EGM", True, "true"),
        ("taints", "b=1:NoSchedule,a=2:NoExecute", "a=2:NoExecute, b=1:NoSchedule"),
        ("sysctl.net.ipv4.tcp_rmem", "4096 87380 6291456", "4096\t87380\t6291456"),
    ],
)
def test_values_that_satisfy_the_plan(name: str, planned: Fact, seen: Fact) -> None:
    """Floors, sets and spellings are satisfied by what is at least as good, or means the same."""
    assert same(name, planned, seen)


@pytest.mark.parametrize(
    ("name", "planned", "seen"),
    [
        ("mtu.rail0", 9000, 1500),
        ("vfs.rail0", 8, 16),
        ("driver", "580.65.06", "580.9"),
        ("driver", "580.65.06", "absent"),
        ("memlock", "unlimited", "8192"),
        ("hugepages_2mi", 1024, 0),
        ("taints", "a=1:NoSchedule", ""),
        ("boot_order", "network", "disk"),
        ("virtual_media", "https://192.0.2.1/boot.iso", "none"),
        ("secure_boot", "on", "off, on after a reset"),
        ("persistence", True, False),
        ("hostname", "r01-n01", None),
        ("timezone", "UTC", "Europe/Berlin"),
    ],
)
def test_values_that_do_not(name: str, planned: Fact, seen: Fact) -> None:
    """Anything less, and anything else, is drift; so is a thing that is not there."""
    assert not same(name, planned, seen)


def test_each_fact_has_one_of_three_answers() -> None:
    """A fact that was not read is not known, whatever the reason; what the plan does not own is not compared."""
    planned: dict[str, Fact] = {
        "hostname": "n1",
        "mtu.rail0": 9000,
        "driver": "580",
        "gpu_count": 8,
        "varsDigest": "v1",
    }
    answers = compare(
        planned,
        {"hostname": "n1", "mtu.rail0": 1500, "other": 1},
        {"driver": "no nvidia-smi"},
        since="2026-01-01T00:00:00Z",
    )
    assert answers == {
        "hostname": Same(),
        "mtu.rail0": Drifted(9000, 1500),
        "driver": CouldNotTell("no nvidia-smi", "2026-01-01T00:00:00Z"),
        "gpu_count": CouldNotTell("the host did not report it", "2026-01-01T00:00:00Z"),
    }
