"""Drift by hand is named with planned and seen, repaired by `up`, and silence is not taken for drift."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.terminal import Terminal, wait_until

pytestmark = pytest.mark.e2e


def drifted(report: dict[str, Any]) -> dict[tuple[str | None, str], tuple[Any, Any]]:
    """Return what a report calls drifted: planned and seen, by host and thing."""
    return {
        (item["host"], item["thing"]): (item["planned"], item["seen"])
        for item in report["items"]
        if item["kind"] == "drifted"
    }


def test_mtu_boot_order_label_and_switch_are_named_and_repaired(site: Terminal) -> None:
    """Four things changed by hand are found by host, planned and seen; `up` repairs them; then nothing is left."""
    site.on("r01-n01", "ip link set rail0 mtu 1500")
    site.run("coldaisle", "sim", "fault", "sim", "boot-order-drift", "r02-n01")
    site.kubectl("label", "node", "r01-n02", "coldaisle.io/rack=r99", "--overwrite")
    site.on("leaf01", "vtysh -c 'configure terminal' -c 'interface swp1' -c 'description mine'")
    found = drifted(site.drift(expect=5))
    assert found[("r01-n01", "mtu.rail0")] == (9000, 1500)
    assert ("r02-n01", "boot_order") in found
    assert found[("r01-n02", "label.coldaisle.io/rack")] == ("r01", "r99")
    assert found[("leaf01", "config.interface swp1")] == (
        "description r01-n01 rail0\nip address 198.18.128.0/31",
        "description mine\nip address 198.18.128.0/31",
    )
    assert {host for host, _ in found} == {"r01-n01", "r02-n01", "r01-n02", "leaf01"}

    site.up()

    assert site.on("r01-n01", "cat /sys/class/net/rail0/mtu") == "9000"
    assert "mine" not in site.on("leaf01", "vtysh -c 'show running-config'")
    assert not drifted(site.drift(expect=0))


def test_a_silent_host_is_neither_drift_nor_deleted(site: Terminal) -> None:
    """A host that does not answer gives exit 3 and its reason; its resource stays as it was."""
    before = {each["urn"]: each.get("outputs") for each in site.state()["deployment"]["resources"]}
    with site.fault("no-dhcp", "r02-n01"):
        report = site.drift(expect=3)
        silent = [item for item in report["items"] if item["kind"] == "could-not-tell"]
        assert {item["host"] for item in silent} == {"r02-n01"}
        assert all(item["why"] for item in silent)
        assert not drifted(report)
    after = {each["urn"]: each.get("outputs") for each in site.state()["deployment"]["resources"]}
    assert after == before
    wait_until(lambda: site.drift_code() == 0, 120, "the host answers again")


def test_replicas_of_an_autoscaler_are_not_drift(site: Terminal) -> None:
    """What scales a Deployment owns its replicas: a different number is not drift, and `up` leaves it alone."""
    site.kubectl("-n", "serving", "scale", "deployment", "llama", "--replicas=3")
    assert not drifted(site.drift(expect=0))
