"""
What Prometheus scrapes on the simulated site: the ready pods of the engines.

Debian's Prometheus is built without discovery through the Kubernetes API, so the agent, which watches pods anyway,
hands the targets over by Prometheus' own HTTP discovery. On a real site a PodMonitor does this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.cluster.layout import Layout

SCRAPE_INTERVAL = "5s"
TARGETS_PATH = "/prometheus/targets"


def configuration(layout: Layout) -> dict[str, Any]:
    """Return Prometheus' configuration."""
    targets = f"http://{layout.api_address}:{layout.mirror_port}{TARGETS_PATH}"
    return {
        "global": {"scrape_interval": SCRAPE_INTERVAL, "scrape_timeout": "4s", "evaluation_interval": SCRAPE_INTERVAL},
        "scrape_configs": [
            {"job_name": "engines", "http_sd_configs": [{"url": targets, "refresh_interval": SCRAPE_INTERVAL}]}
        ],
    }


def target(namespace: str, pod: str, node: str, address: str) -> dict[str, Any]:
    """Return one target group of HTTP discovery. `address` is host:port."""
    return {"targets": [address], "labels": {"namespace": namespace, "pod": pod, "node": node}}
