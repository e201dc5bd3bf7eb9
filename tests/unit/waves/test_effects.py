"""What a change of facts does to a host."""

from __future__ import annotations

import pytest

from coldaisle.waves.effects import change_of
from coldaisle.waves.records import Target

HOST = Target(name="h1", domains={})


@pytest.mark.parametrize(
    ("playbook", "facts", "kind", "reboots", "drains"),
    [
        ("os", ("kernel_release",), "kernel", True, True),
        ("os", ("package.linux-image-6.8.0-90-generic",), "kernel", False, False),
        ("os", ("sysctl.net.core.rmem_max", "varsDigest"), "settings", False, False),
        ("os", ("mtu.rail0",), "settings", False, True),
        ("gpu", ("package.nvidia-open",), "driver", False, True),
        ("gpu", ("driver_pin", "package.nvidia-open"), "driver", True, True),
        ("bmc_firmware", ("firmware.BIOS",), "firmware", False, True),
        ("kubernetes", ("kubelet_config",), "operator", False, False),
        ("fabric", ("config.router bgp",), "switch", False, False),
    ],
)
def test_facts_say_what_a_change_does(
    playbook: str,
    facts: tuple[str, ...],
    kind: str,
    reboots: bool,  # noqa: FBT001 - a row of the table
    drains: bool,  # noqa: FBT001 - the same
) -> None:
    """A kernel reboots, a driver resets, a sysctl does neither."""
    change = change_of(HOST, playbook, facts, {})
    assert (change.kind, change.reboots, change.drains) == (kind, reboots, drains)


def test_the_way_back_is_known_values() -> None:
    """A pinned package goes back to what it was; a firmware, a first value, and files do not."""
    before = {"package.nvidia-open": "580.95.05-1", "varsDigest": "v1"}
    assert change_of(HOST, "gpu", ("package.nvidia-open", "varsDigest"), before).no_way_back == ""
    assert (
        change_of(HOST, "gpu", ("package.cuda",), before).no_way_back == "it is not known what package.cuda was before"
    )
    assert (
        change_of(HOST, "os", ("files.os", "varsDigest"), before).no_way_back == "what was written before is not kept"
    )
    firmware = change_of(HOST, "bmc_firmware", ("firmware.BIOS",), {"firmware.BIOS": "1.0"})
    assert firmware.no_way_back == "an older firmware is no state that anybody planned"
