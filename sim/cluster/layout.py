"""
Where the simulated control plane lives: one record of addresses and paths, derived from the plan and the state folder.

Every other module of this package takes a Layout, so that a test can start a second control plane beside the site's
own with other addresses, another namespace and another folder.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sim.errors import SimError
from sim.image.kubelet import IMAGE
from sim.machines import runs_kubelet
from sim.network import CONTROL_PLANE
from sim.state import SITE_MARK

if TYPE_CHECKING:
    from coldaisle.plan.model import ClusterPlan, SitePlan

MIRROR_PORT = 8879


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Addresses and folders of one control plane. `state` is the state folder of the site."""

    site: str
    state: Path
    namespace: str
    api_address: str
    api_port: int
    pod_cidr: str
    service_cidr: str
    prometheus_port: int
    mirror_port: int
    kubernetes_version: str
    real_nodes: bool = False
    """Whether every node runs its pods itself: nobody plays them, and the controllers give each node a pod range."""

    @property
    def folder(self) -> Path:
        """Everything that `down` may delete whole."""
        return self.state / "cluster"

    @property
    def pki(self) -> Path:
        """Certificates of the site; the control plane's own are below `cluster`."""
        return self.state / "pki"

    @property
    def secrets(self) -> Path:
        """The administrator's kubeconfig and the bootstrap token."""
        return self.state / "secrets"

    @property
    def logs(self) -> Path:
        """One file a process."""
        return self.folder / "logs"

    @property
    def run(self) -> Path:
        """Pid files."""
        return self.folder / "run"

    @property
    def pods(self) -> Path:
        """Volumes and logs of the pods that are real processes."""
        return self.folder / "pods"

    @property
    def kubeconfigs(self) -> Path:
        """One kubeconfig a component."""
        return self.folder / "kubeconfigs"

    @property
    def api_url(self) -> str:
        """The URL of the API server."""
        return f"https://{self.api_address}:{self.api_port}"

    @property
    def admin_kubeconfig(self) -> Path:
        """The administrator's kubeconfig, which the stack's provider reads."""
        return self.secrets / "admin.kubeconfig"

    @property
    def bootstrap_token(self) -> Path:
        """The file with the token that hosts join with."""
        return self.secrets / "bootstrap-token"


def read_layout(folder: Path) -> Layout:
    """Return the layout that `up` wrote into the control plane's folder."""
    record = json.loads((folder / "layout.json").read_text())
    return Layout(**{**record, "state": Path(record["state"])})


def layout_of(plan: SitePlan, state: Path) -> Layout:
    """Return the layout that a plan asks for. Raises SimError when the site has no cluster."""
    if plan.cluster is None:
        raise SimError(plan.name, "the site has no cluster", "no `cluster` section in its spec", "add one")
    real = {runs_kubelet(plan, node) for node in plan.nodes}
    if len(real) > 1:
        have = f"pools with {IMAGE}, and others"
        raise SimError(plan.name, "pods are played on all nodes or on none", have, f"give every pool {IMAGE}, or none")
    return cluster_layout(plan.name, plan.cluster, state, mirror_port=_mirror_port(plan), real_nodes=real == {True})


def cluster_layout(
    site: str, cluster: ClusterPlan, state: Path, *, mirror_port: int = MIRROR_PORT, real_nodes: bool = False
) -> Layout:
    """Return the layout of one cluster plan; the simulated network names the namespace after the site."""
    api = urlsplit(cluster.api_server)
    prometheus = urlsplit(cluster.prometheus_url or "")
    return Layout(
        site=site,
        state=state,
        namespace=f"{SITE_MARK}-{site}-{CONTROL_PLANE}",
        api_address=api.hostname or "",
        api_port=api.port or 6443,
        pod_cidr=cluster.pod_cidr,
        service_cidr=cluster.service_cidr,
        prometheus_port=prometheus.port or 9090,
        mirror_port=mirror_port,
        kubernetes_version=cluster.version,
        real_nodes=real_nodes,
    )


def _mirror_port(plan: SitePlan) -> int:
    releases = [*(plan.gpu_stack.releases if plan.gpu_stack else ())]
    if plan.autoscaler is not None:
        releases.append(plan.autoscaler.release)
    ports = {urlsplit(release.repository).port for release in releases} - {None}
    return next(iter(sorted(port for port in ports if port)), MIRROR_PORT)
