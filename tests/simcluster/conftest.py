"""Fixtures of the tests that run a control plane: one for the whole session, since it takes ten seconds to start."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from sim.cluster import site
from sim.cluster.layout import cluster_layout
from tests.simcluster.live_cluster import CLUSTER, Cluster, Host, make_namespace

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a control plane in a namespace of its own, and check that nothing is left of it."""
    layout = cluster_layout("pytest", CLUSTER, tmp_path_factory.mktemp("state"))
    make_namespace(layout)
    try:
        site.start(layout, lambda _: None)
        yield Cluster(layout)
    finally:
        site.stop(layout.state)
        pids = subprocess.run(["ip", "netns", "pids", layout.namespace], capture_output=True, text=True, check=False)
        subprocess.run(["ip", "netns", "del", layout.namespace], check=False)
    assert pids.stdout == ""
    assert not layout.folder.exists()
    assert not layout.admin_kubeconfig.exists()


@pytest.fixture(scope="session")
def node(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Start the hosts' kubelet on this machine, as a host with eight GPUs."""
    host = Host(cluster, tmp_path_factory.mktemp("host"))
    host.start()
    yield host
    host.stop()
