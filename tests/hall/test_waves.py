"""A rolling driver upgrade of sixteen hosts: a window, a canary that regresses, a second operator, and the rest."""

from __future__ import annotations

import json
import os
import subprocess
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
PACKAGE, OLD, NEW = "nvidia-open", "580.95.05-1", "580.105.08-1"
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


@pytest.mark.drill
@pytest.mark.timeout(1800)
def test_a_driver_goes_through_sixteen_hosts_in_waves(pool: Hall) -> None:
    """A closed window starts nothing, a regression stops at the canary, a second operator is refused, all end well."""
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
    [refused] = pool.plays("apply", "gpu")["reasons"]["gpu-light"]
    assert refused.startswith("pool-light is being changed by the play gpu-light, process")
    assert json.loads(going.communicate()[0].splitlines()[-1])["reasons"] == {}

    assert versions(pool) == [NEW] * HOSTS
    waves = applied(pool)
    assert [len(wave) for wave in waves] == [1, 1, AT_ONCE, AT_ONCE, AT_ONCE]
    assert sorted(host for wave in waves[1:] for host in wave) == [node.name for node in pool.plan.nodes]
