"""Acceptance through the real engine: `pulumi up` of a hall with a bad GPU, again once it is mended, and once more."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.paths import state_dir
from coldaisle.plan.acceptance import UNACCEPTED_TAINT
from sim import faults
from sim.parts import gpu_slot, serial_of
from tests.hall.test_faults import target
from tests.hall_cluster import hall_cluster, kubectl
from tests.hall_engine import Engine, start
from tests.hall_sites import ROOT, Hall, hall

pytestmark = pytest.mark.drill

HOSTS = ("r01-n01", "r01-n02", "r01-n03")
BAD = "r01-n02"
SLOW = "gpu-slow", {"index": 2}
"""A fault that no fact of a host tells: every play before the acceptance is content."""

PART = f"{BAD} GPU 2, serial {serial_of(BAD, gpu_slot(2))}, slot 00000000:50:00.0"

CORDONED = "node.kubernetes.io/unschedulable"
"""What Kubernetes itself puts on a node that is cordoned."""

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from components.datacenter import Datacenter
from components.layers import Site
from tests.hall_plays import hall_of

plan, site = hall_of(Path({folder!r}))
Datacenter(plan.name, Site.of(plan, site))
"""


@pytest.fixture
def floor() -> Iterator[Hall]:
    """Return a hall in a cluster, whose hosts are off; its pool is accepted by `up`, by what its GPUs copy."""
    with hall(len(HOSTS), name=f"u{os.getpid() % 100000}") as found, hall_cluster(found):
        file = found.folder / "site.yaml"
        spec = yaml.safe_load(file.read_text())
        spec["node_pools"]["light"]["acceptance"] = {"phase": "full", "domains": ["pcie"]}
        file.write_text(yaml.safe_dump(spec, sort_keys=False))
        faults.inject(target(found, BAD), *SLOW)
        yield found
        shutil.rmtree(state_dir(found.plan.name), ignore_errors=True)


def seen(engine: Engine) -> dict[str, dict[str, Any]]:
    """Return, by host, the facts of the play that the engine keeps."""
    code, said = engine.pulumi("stack", "export")
    assert code == 0, said
    resources = json.loads(said)["deployment"]["resources"]
    [play] = [it for it in resources if it["urn"].endswith("coldaisle:ansible:Play::accept-light")]
    hosts: dict[str, dict[str, Any]] = play["outputs"]["hosts"]
    return hosts


def taints(floor: Hall) -> dict[str, list[str]]:
    """Return, by node, the keys of its taints in the cluster."""
    nodes = json.loads(kubectl(floor, "get", "nodes", "-o", "json").stdout)["items"]
    return {it["metadata"]["name"]: sorted(each["key"] for each in it["spec"].get("taints", ())) for it in nodes}


def evidence(floor: Hall) -> list[str]:
    """Return whom each statement is about, in the order of time."""
    files = sorted((floor.state.folder / "evidence").glob("*.dsse.json"))
    return sorted(path.name.partition("-acceptance-")[2].rpartition("-")[0] for path in files)


def test_a_bad_gpu_is_refused_by_up_and_accepted_once_it_is_mended(floor: Hall, tmp_path: Path) -> None:
    """Its line in the engine's output names test and part; it keeps its taint, and the others take work meanwhile."""
    engine = start(floor, tmp_path / "accepted", PROGRAM.format(root=str(ROOT), folder=str(floor.folder)))
    code, said = engine.pulumi("up", "--yes", "--skip-preview")
    assert code != 0, said
    [line] = {line.strip() for line in said.splitlines() if "not accepted: host-copies: " in line}
    assert f"{BAD}: not accepted: host-copies: " in line
    assert f"(part: {PART})" in line
    good = {host: host for host in HOSTS if host != BAD}
    assert {host: facts.get("accepted") for host, facts in seen(engine).items()} == dict.fromkeys(good, "full")
    assert taints(floor) == {host: [] for host in good} | {BAD: [UNACCEPTED_TAINT, CORDONED]}

    faults.clear(target(floor, BAD), SLOW[0])
    code, said = engine.pulumi("up", "--yes", "--skip-preview")
    assert code == 0, said
    assert {host: facts["accepted"] for host, facts in seen(engine).items()} == dict.fromkeys(HOSTS, "full")
    assert taints(floor) == {host: [] for host in HOSTS}
    assert evidence(floor) == [HOSTS[0], BAD, BAD, HOSTS[2]]

    code, said = engine.pulumi("up", "--yes", "--skip-preview", "--expect-no-changes")
    assert code == 0, said
    assert len(evidence(floor)) == 4
