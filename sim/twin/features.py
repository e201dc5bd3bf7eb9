"""What configurations ask of the kernel and the twin does not make: nothing is called proved that did not run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sim.shell import find, run
from sim.twin.records import Check, not_run


@dataclass(frozen=True, slots=True)
class Feature:
    """Lines of a configuration, what they are for, and the device that the kernel must be able to make for them."""

    name: str
    lines: re.Pattern[str]
    meaning: str
    device: tuple[str, ...]


FEATURES = (
    Feature(
        "tenant-vrfs",
        re.compile(r"^(vrf (?!default)\S+|router bgp \d+ vrf |interface \S+ vrf |ip route .* vrf )", re.MULTILINE),
        "routes of tenants are apart",
        ("type", "vrf", "table", "10"),
    ),
    Feature(
        "evpn-vxlan",
        re.compile(r"^\s*(advertise-all-vni|vni \d+|address-family l2vpn evpn)", re.MULTILINE),
        "tenants' networks span leaves",
        ("type", "vxlan", "id", "10", "dstport", "4789"),
    ),
)


def feature_checks(texts: Mapping[str, str]) -> tuple[Check, ...]:
    """Return a check that was not run for each feature that configurations use and the twin does not make."""
    used = [(one, sum(1 for text in texts.values() if one.lines.search(text))) for one in FEATURES]
    return tuple(_not_run(one, count) for one, count in used if count)


def _not_run(feature: Feature, count: int) -> Check:
    kind = feature.device[1]
    has = _kernel_makes(feature.device)
    why = f"the twin makes no {kind} devices" if has else f"this kernel has no {kind}: it cannot make the devices"
    return not_run(feature.name, f"{feature.meaning}, on {count} of {count} switches", why)


def _kernel_makes(device: Iterable[str]) -> bool:
    words = [find("unshare", "util-linux"), "--net", find("ip", "iproute2"), "link", "add", "cat-probe", *device]
    return run(words, check=False).returncode == 0
