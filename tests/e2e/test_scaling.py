"""Load makes the endpoint's replicas grow, calm makes them shrink: engine, Prometheus and KEDA are all real parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.terminal import SITE, Terminal, wait_until

pytestmark = pytest.mark.e2e


def replicas(site: Terminal) -> int:
    """Return how many replicas of the endpoint are available."""
    found = json.loads(site.kubectl("-n", "serving", "get", "deployment", "llama", "-o", "json"))
    return int(found["status"].get("availableReplicas", 0))


def test_replicas_follow_the_queue(site: Terminal, tmp_path: Path) -> None:
    """One replica at rest; more than one under a load that queues; one again after it."""
    wait_until(lambda: replicas(site) == 1, 180, "one replica at rest")
    load = site.start(
        "coldaisle", "sim", "load", SITE, "llama", "--rps", "60", "--seconds", "60", output=tmp_path / "load.log"
    )
    grown_s = wait_until(lambda: replicas(site) >= 2, 120, "more replicas under load")
    assert load.wait(timeout=120) == 0
    shrunk_s = wait_until(lambda: replicas(site) == 1, 240, "one replica in calm")
    print(f"scale_up_s {grown_s:.0f}\nscale_down_s {shrunk_s:.0f}")  # noqa: T201 - figures for whoever reads the run


def test_a_scaled_endpoint_is_not_drift(site: Terminal) -> None:
    """Whatever number of replicas the autoscaler has chosen, the comparison stays clean."""
    site.drift(expect=0)
