"""
A control plane beside a hall, on its deploy host: `python -m tests.hall_cluster FOLDER NAMESPACE ADDRESS NODE...`.

It has a Node for each host, which it keeps ready as their kubelets would: light hosts have none. It says `ready` once
all of that is there, and takes everything away when its input ends.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import yaml
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node

from coldaisle.check import open_site
from coldaisle.cli.collection import use_collection
from coldaisle.plan.model import SitePlan
from coldaisle.render.ansible import inventory
from sim.cluster import site
from sim.cluster.layout import Layout, layout_of
from sim.cluster.tools import find_tool
from sim.hall.plan import DEPLOY, Wanted, deploy_addresses, hall_plan
from sim.hall.site import INVENTORY
from tests.hall_sites import Hall

BEAT_S = 4.0
"""The controllers call a node silent after 25 s (sim.cluster.processes)."""

API_PORT = 6443


@contextmanager
def hall_cluster(floor: Hall) -> Iterator[None]:
    """Give a hall a cluster: in its spec, in its inventory, and as a control plane that runs."""
    address = deploy_addresses(floor.plan)[0].partition("/")[0]
    folder = floor.folder.with_name("cluster")
    _add_to_spec(floor.folder, folder, address)
    touch(floor)
    names = [node.name for node in floor.plan.nodes]
    words = [sys.executable, "-m", "tests.hall_cluster", str(floor.folder), floor.state.namespace(DEPLOY), *names]
    command = floor.command(*words)
    with subprocess.Popen(command, env=floor.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout
            assert running.stdout.readline() == b"ready\n"
            yield
        finally:
            running.communicate(timeout=60)


def touch(floor: Hall, *nodes: str) -> None:
    """Write the hall's inventory from its spec as it is now, with the cluster; `nodes` may be touched in any state."""
    plan = open_site(floor.folder).plan
    hosts = hall_plan(plan, floor.state, Wanted())
    found = json.loads(json.dumps(inventory(hosts, touch=nodes)))
    for name in (node.name for node in hosts.nodes):
        access = {"name": name, "kubeconfig": plan.cluster.kubeconfig if plan.cluster else ""}
        found["all"]["hosts"][name]["drain_node"] = access
    (floor.state.folder / INVENTORY).write_text(yaml.safe_dump(found, sort_keys=False))


def kubectl(floor: Hall, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run kubectl on the hall's deploy host as the administrator."""
    kubeconfig = floor.folder.with_name("cluster") / "secrets/admin.kubeconfig"
    return floor.run(find_tool("kubectl"), f"--kubeconfig={kubeconfig}", *words, check=check)


def _add_to_spec(folder: Path, state: Path, address: str) -> None:
    file = folder / "site.yaml"
    sections: dict[str, Any] = yaml.safe_load(file.read_text())
    sections["cluster"] = {
        "name": "hall",
        "version": "v1.37.2",
        "api_server": f"https://{address}:{API_PORT}",
        "ca_file": str(state / "pki/ca.crt"),
        "kubeconfig": f"file:{state / 'secrets/admin.kubeconfig'}",
        "bootstrap_token": f"file:{state / 'secrets/bootstrap-token'}",
        "pod_cidr": "100.100.0.0/16",
        "service_cidr": "100.101.0.0/16",
        "cluster_dns": "100.101.0.10",
        "chart_mirror": f"http://{address}:8879",
    }
    file.write_text(yaml.safe_dump(sections, sort_keys=False))


def main(folder: Path, namespace: str, *nodes: str) -> None:
    """Run the control plane until the input ends."""
    layout = _layout(open_site(folder).plan, folder.with_name("cluster"), namespace)
    try:
        site.start(layout, lambda _line: None)
        _beat(layout, nodes)
    finally:
        site.stop(layout.state)


def _layout(plan: SitePlan, state: Path, namespace: str) -> Layout:
    """Return the plan's layout in the hall's own namespace, with nothing that plays pods."""
    return replace(layout_of(plan, state), namespace=namespace, real_nodes=True)


def _beat(layout: Layout, nodes: Iterable[str]) -> None:
    """Make the nodes, say so, and keep those ready that are there until the input ends."""
    use_collection()
    from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError  # noqa: PLC0415 - that path
    from ansible_collections.coldaisle.site.plugins.module_utils.node import Cluster  # noqa: PLC0415

    cluster = Cluster(f"file:{layout.admin_kubeconfig}")
    for name in nodes:
        cluster.client.create(Node(metadata=ObjectMeta(name=name)))
        cluster.set_conditions(name, _ready())
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while not _ended(sys.stdin):
        for name in nodes:
            with suppress(FactError):  # it was retired; or the supervisor starts again what a loaded machine has killed
                cluster.set_conditions(name, _ready())


def _ready() -> list[dict[str, str]]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [{"type": "Ready", "status": "True", "lastHeartbeatTime": now, "lastTransitionTime": now}]


def _ended(stream: IO[str]) -> bool:
    """Wait a moment, and tell whether a stream has ended."""
    ready, _, _ = select.select([stream], [], [], BEAT_S)
    return bool(ready)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
