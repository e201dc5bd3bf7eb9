"""Acceptance through the real engine: `pulumi up` of a hall with a bad GPU, again once it is mended, and once more."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import yaml

from coldaisle.paths import state_dir
from coldaisle.plan.acceptance import UNACCEPTED_TAINT
from sim import faults
from sim.hall.spec import GPUS
from sim.parts import delivered, gpu_slot, serial_of
from tests.hall.test_faults import target
from tests.hall_cluster import hall_cluster, kubectl
from tests.hall_engine import Engine, start
from tests.hall_sites import ROOT, Hall, hall

pytestmark = pytest.mark.drill

HOSTS = CANARY, BAD, LAST = "r01-n01", "r01-n02", "r01-n03"
SLOW = "gpu-slow", {"index": 2}
"""A fault that no fact of a host tells: every play before the acceptance is content."""

PART = f"{BAD} GPU 2, serial {serial_of(BAD, gpu_slot(2))}, slot 00000000:50:00.0"

OUT = [UNACCEPTED_TAINT, "node.kubernetes.io/unschedulable"]
"""Taints of a node that is not accepted, and that is cordoned: the second one is Kubernetes' own."""

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


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return the engine of a hall in a cluster, whose hosts are off; `up` accepts its pool, by what its GPUs copy."""
    with hall(len(HOSTS), name=f"u{os.getpid() % 100000}") as floor, hall_cluster(floor):
        plan(floor, acceptance={"phase": "full", "domains": ["pcie"]}, rollout={"max_unavailable": {"pool": "100%"}})
        folder = tmp_path_factory.mktemp("engine") / "accepted"
        yield start(floor, folder, PROGRAM.format(root=str(ROOT), folder=str(floor.folder)))
        shutil.rmtree(state_dir(floor.plan.name), ignore_errors=True)


def plan(floor: Hall, parts: Iterable[str] = (), **pool: Any) -> None:  # noqa: ANN401
    """Write keys of the pool into the spec, and the GPUs of some hosts into its delivery list."""
    file = floor.folder / "site.yaml"
    spec = yaml.safe_load(file.read_text())
    spec["node_pools"]["light"] |= pool
    for host in parts:
        spec["hardware"][host]["gpus"] = delivered(host, GPUS)["gpus"]
    file.write_text(yaml.safe_dump(spec, sort_keys=False))


def up(engine: Engine, *words: str) -> tuple[int, str]:
    """Run `pulumi up`; return its exit code and output."""
    return engine.pulumi("up", "--yes", "--skip-preview", *words)


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


def statements(floor: Hall) -> Counter[str]:
    """Return how many statements there are about each host."""
    files = (floor.state.folder / "evidence").glob("*.dsse.json")
    return Counter(path.name.partition("-acceptance-")[2].rpartition("-")[0] for path in files)


def test_a_bad_gpu_is_refused_by_up_and_accepted_once_it_is_mended(engine: Engine) -> None:
    """Its line in the engine's output names test and part; it keeps its taint, and the others take work meanwhile."""
    floor = engine.hall
    faults.inject(target(floor, BAD), *SLOW)
    code, said = up(engine)
    assert code != 0, said
    [line] = {line.strip() for line in said.splitlines() if "not accepted: host-copies: " in line}
    assert f"{BAD}: not accepted: host-copies: " in line
    assert f"(part: {PART})" in line
    good = [host for host in HOSTS if host != BAD]
    assert {host: facts.get("accepted") for host, facts in seen(engine).items()} == dict.fromkeys(good, "full")
    assert taints(floor) == {host: [] for host in good} | {BAD: OUT}

    faults.clear(target(floor, BAD), SLOW[0])
    code, said = up(engine)
    assert code == 0, said
    assert {host: facts["accepted"] for host, facts in seen(engine).items()} == dict.fromkeys(HOSTS, "full")
    assert taints(floor) == {host: [] for host in HOSTS}
    assert statements(floor) == {CANARY: 1, BAD: 2, LAST: 1}

    code, said = up(engine, "--expect-no-changes")
    assert code == 0, said
    assert statements(floor).total() == 4


def test_hosts_with_other_parts_are_accepted_again_in_waves(engine: Engine) -> None:
    """A canary that is refused stops the rest, which work on; once it is mended, it is first again, then the others."""
    floor = engine.hall
    assert set(seen(engine)) == set(HOSTS), "the test before this one has accepted them"
    plan(floor, HOSTS)
    before = statements(floor)
    faults.inject(target(floor, CANARY), *SLOW)
    code, said = up(engine)
    assert code != 0, said
    assert f"* {CANARY}: not accepted: host-copies: " in said
    assert all(f"* {host}: not started: canary {CANARY} failed: " in said for host in (BAD, LAST)), said
    assert taints(floor) == {CANARY: OUT, BAD: [], LAST: []}

    faults.clear(target(floor, CANARY), SLOW[0])
    code, said = up(engine)
    assert code == 0, said
    assert taints(floor) == {host: [] for host in HOSTS}
    assert statements(floor) - before == {CANARY: 2, BAD: 1, LAST: 1}
    lines = (floor.state.folder / "waves/accept-light.events.jsonl").read_text().splitlines()
    steps = [json.loads(line) for line in lines]
    assert [step["hosts"] for step in steps if step["what"] == "apply"] == [[CANARY], [CANARY], [BAD, LAST]]
