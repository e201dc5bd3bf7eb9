"""A rolling driver upgrade of sixteen hosts: a window, a canary that regresses, a second operator, and the rest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.paths import state_dir
from sim import faults
from sim.shell import environment
from tests.hall.test_hall import ssh
from tests.hall_sites import Hall, hall
from tests.programs import required

HOSTS, AT_ONCE = 16, 5
PACKAGE, OLD, NEW, OTHER = "nvidia-open", "580.95.05-1", "580.105.08-1", "580.119.02-1"
STAND_INS = Path(__file__).parent / "packages"
"""apt-get, apt-mark and dpkg-query that keep versions in files: no archive with a driver can be reached."""

POLICY = {
    "max_at_once": AT_ONCE,
    "max_unavailable": {"pool": "50%"},
    "canary_soak_s": 1,
    "soak_s": 0,
}


def plan_driver(floor: Hall, version: str, **policy: Any) -> None:  # noqa: ANN401
    """Write a driver and a policy into the spec, and the inputs of the plays that follow."""
    file = floor.folder / "site.yaml"
    spec = yaml.safe_load(file.read_text())
    spec["node_pools"]["light"]["gpu"]["driver_packages"] = {PACKAGE: version}
    spec["node_pools"]["light"]["rollout"] = POLICY | policy
    file.write_text(yaml.safe_dump(spec, sort_keys=False))
    floor.replan()
    floor.plays("prepare")


def install_stand_ins(floor: Hall) -> None:
    """Put the stand-ins on every host."""
    script = "".join(
        f"cat > /usr/local/bin/{file.name} <<'END'\n{file.read_text()}END\nchmod 755 /usr/local/bin/{file.name}\n"
        for file in sorted(STAND_INS.iterdir())
    )
    for node in floor.plan.nodes:
        ssh(floor, node.name, script)


@pytest.fixture(scope="module")
def pool() -> Iterator[Hall]:
    """Return a hall of sixteen hosts that run the old driver."""
    for program in ("nsenter", "unshare", "setpriv", "ssh-keygen"):
        required(program, environment()["PATH"])
    with hall(HOSTS, name=f"w{os.getpid() % 100000}") as found:
        found.plays("prepare")
        assert found.plays("apply", "bmc")["reasons"] == {}
        assert found.plays("apply", "os")["reasons"] == {}
        install_stand_ins(found)
        plan_driver(found, OLD)
        assert found.plays("apply", "gpu")["reasons"] == {}
        yield found


def versions(floor: Hall) -> list[str]:
    """Return the driver of each host."""
    ask = f"cat /var/lib/stand-in-{PACKAGE}"
    return [ssh(floor, node.name, ask).stdout.strip() for node in floor.plan.nodes]


def events(floor: Hall) -> list[dict[str, Any]]:
    """Return the record of the rollout."""
    file = state_dir(floor.plan.name) / "waves" / "gpu-light.events.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def applied(floor: Hall) -> list[list[str]]:
    """Return the hosts of each wave that was begun."""
    return [event["hosts"] for event in events(floor) if event["what"] == "apply"]


def spec_of(floor: Hall, folder: Path, **site: Any) -> dict[str, Any]:  # noqa: ANN401 - of a spec
    """Return the sections of another operator's copy of the spec, with some of its site changed."""
    if not folder.exists():
        shutil.copytree(floor.folder, folder)
    sections: dict[str, Any] = yaml.safe_load((folder / "site.yaml").read_text())
    sections["site"] |= site
    return sections


def refused_of(floor: Hall, folder: Path) -> str:
    """Return what a second operator is told, whose copy of the spec plans another driver."""
    sections = spec_of(floor, folder)
    sections["node_pools"]["light"]["gpu"]["driver_packages"] = {PACKAGE: OTHER}
    (folder / "site.yaml").write_text(yaml.safe_dump(sections, sort_keys=False))
    for words in (["prepare"], ["apply", "gpu"]):
        told = floor.run(sys.executable, "-m", "tests.hall_plays", str(folder), *words)
    [reason] = json.loads(told.stdout.splitlines()[-1])["reasons"]["gpu-light"]
    return str(reason)


def maintained(floor: Hall, folder: Path, node: str) -> tuple[int, str]:
    """Take a node of the hall into maintenance; return how that ended, and what was said."""
    sections = spec_of(floor, folder, name=floor.plan.name)
    (folder / "site.yaml").write_text(yaml.safe_dump(sections, sort_keys=False))
    words = ["node", "maintain", str(folder), node, "--why", "clean the filters"]
    done = floor.run(sys.executable, "-m", "coldaisle", *words, check=False)
    return done.returncode, done.stderr


@pytest.mark.drill
@pytest.mark.timeout(1800)
def test_a_driver_goes_through_sixteen_hosts_in_waves(pool: Hall, tmp_path: Path) -> None:
    """A closed window starts nothing, a regression stops at the canary, others are refused, all end well."""
    tomorrow = time.strftime("%a", time.gmtime(time.time() + 86_400)).lower()
    plan_driver(pool, NEW, wave_s=60, windows=[{"days": [tomorrow], "opens": "12:00", "closes": "12:10"}])
    reasons = pool.plays("apply", "gpu")["reasons"]["gpu-light"]
    assert len(reasons) == HOSTS
    assert all("not started: the maintenance window is closed; the next one opens" in reason for reason in reasons)
    assert (versions(pool), applied(pool)) == ([OLD] * HOSTS, [])

    plan_driver(pool, NEW, wave_s=60, windows=[])
    canary = faults.find_target(pool.plan, pool.state, "r01-n01")
    faults.inject(canary, "gpu-missing", {})
    told = pool.plays("apply", "gpu")
    first, *others = told["reasons"]["gpu-light"]
    assert first.startswith("r01-n01: failed in task ")
    assert "gpu_count" in first
    assert len(others) == HOSTS - 1
    assert all(": not started: canary r01-n01 failed: apply: failed in task" in other for other in others)
    assert versions(pool)[1:] == [OLD] * (HOSTS - 1)
    assert applied(pool) == [["r01-n01"]]

    faults.clear(canary, "gpu-missing")
    going = subprocess.Popen(
        pool.command(*pool.plays_command("apply", "gpu")), env=pool.environment(), stdout=subprocess.PIPE, text=True
    )
    while len(applied(pool)) < 3:
        assert going.poll() is None
        time.sleep(0.2)
    at_work = "pool-light is being changed by the play gpu-light, process"
    assert refused_of(pool, tmp_path / "other").startswith(at_work)
    code, said = maintained(pool, tmp_path / "named", "r01-n16")
    assert (code, f"r01-n16 stays as it is: {at_work}" in said) == (6, True), said
    assert json.loads(going.communicate()[0].splitlines()[-1])["reasons"] == {}

    assert maintained(pool, tmp_path / "named", "r01-n16")[0] == 0
    assert versions(pool) == [NEW] * HOSTS
    waves = applied(pool)
    assert [len(wave) for wave in waves] == [1, 1, AT_ONCE, AT_ONCE, AT_ONCE]
    assert sorted(host for wave in waves[1:] for host in wave) == [node.name for node in pool.plan.nodes]
