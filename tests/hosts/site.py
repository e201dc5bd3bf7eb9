"""The plan of the test's host: the base site of the cases with every setting of a host turned on."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from ansible_collections.coldaisle.site.plugins.filter.facts import with_contents

from coldaisle.plan import plan_site
from coldaisle.plan.model import NodePlan, SitePlan
from coldaisle.render.ansible import host_vars
from coldaisle.spec import load_site
from tests.hosts.files import RELEASE

BASE = Path(__file__).parents[1] / "cases" / "base"
NODE = "r01-n01"

SETTINGS = f"""
    rdma: {{mode: roce, vfs_per_port: 2, firmware_vfs: 8, memlock: unlimited, netns: exclusive}}
    gpu:
      driver_floor: "580.95.05"
      driver_version: "580.95.05"
      persistence: true
      fabric_state: Completed
      max_uncorrected_ecc: 0
    os:
      kernel: {{release: {RELEASE}}}
      kernel_arguments: [quiet]
      iommu: passthrough
      modules: [mlx5_ib, ib_umad]
      packages: {{pinned: 1.0-1}}
      sysctl: {{net.ipv4.tcp_mtu_probing: "1"}}
      hugepages_2mi: 8
      hugepages_1gi: 4
      cpu_governor: performance
      pci: {{max_read_request_bytes: 4096, relaxed_ordering: true, acs_redirect: "off"}}
      time_service: chrony
      clock_synchronized: true
      max_clock_offset_ms: 50
      nofile: "1048576"
"""


def planned_host(folder: Path) -> tuple[SitePlan, NodePlan, dict[str, Any]]:
    """Return the plan, the host's part of it, and its variables, from a copy of the base site in a folder."""
    site = Path(shutil.copytree(BASE, folder / "case"))
    for file in site.glob("*.yaml"):
        text = file.read_text(encoding="utf-8").replace("198.18.", "10.18.").replace("198.19.", "10.19.")
        file.write_text(text, encoding="utf-8")
    pools = (site / "node_pools.yaml").read_text(encoding="utf-8")
    start, end = pools.index("    rdma:"), pools.index("  # Light hosts")
    (site / "node_pools.yaml").write_text(pools[:start] + SETTINGS.lstrip("\n") + pools[end:], encoding="utf-8")
    key = folder / "key"
    text = (site / "site.yaml").read_text(encoding="utf-8")
    (site / "site.yaml").write_text(_with_key(text, key), encoding="utf-8")
    key.with_suffix(".pub").write_text("ssh-ed25519 AAAA ops\n", encoding="utf-8")
    plan = plan_site(load_site(site))
    variables = host_vars(plan, NODE)
    for role in ("os", "rdma", "gpu"):
        variables[f"{role}_files"] = with_contents(variables[f"{role}_files"])
    return plan, next(node for node in plan.nodes if node.name == NODE), variables


def _with_key(text: str, key: Path) -> str:
    """Return the site's section with another administrator's key."""
    lines = [f"  admin_key_file: {key}" if "admin_key_file" in line else line for line in text.splitlines()]
    return "\n".join(lines) + "\n"
