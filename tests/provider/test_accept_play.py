"""The play `accept`: who is tested, what is told of whom, and that nobody is tested twice or for ever."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.acceptance.wire import PAIRED
from coldaisle.cli.accept_judge import bodies_of
from coldaisle.evidence import Store
from coldaisle.plan import plan_site
from coldaisle.render.ansible import inventory
from coldaisle.render.digests import play_hosts
from coldaisle.spec import load_site
from coldaisle.waves.policies import policy_json
from components.provider.accepting import ground_of
from components.provider.outcome import RunResult
from components.provider.plays import InitFailedError, Plays
from components.provider.run import Event, Job
from sim.hall.spec import write
from tests.unit.acceptance.test_judge import gpus
from tests.unit.evidence.test_evidence import write_key

HOSTS = ("r01-n01", "r01-n02", "r01-n03", "r01-n04")
URN = "urn:pulumi:dev::floor::coldaisle:ansible:Play::accept-light"


@dataclass
class Hosts:
    """Answers as the tools of hosts do: `lame` ones have lost a GPU. It stands where runs of Ansible do."""

    lame: set[str] = field(default_factory=set)
    ran: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    gates: list[str] = field(default_factory=list)

    async def run(self, job: Job, stop: asyncio.Event, on_event: Callable[[Event], None]) -> RunResult:
        """Leave what tools print where the role leaves it."""
        del stop, on_event
        self.ran.append((job.playbook, job.hosts))
        for host in job.hosts:
            if job.playbook == "accept":
                assert job.groups == {PAIRED: []}, "tests of GPUs have no rounds"
                self._say(host, job.host_variables[host])
            else:
                self.gates.append(f"{host} {job.playbook} {job.host_variables[host]['drain_acceptance']}")
        return RunResult(job.hosts)

    def _say(self, host: str, variables: dict[str, Any]) -> None:
        text = gpus(int(host[-1]), lost=3 if host in self.lame else None)
        lines = [
            json.dumps({"id": step["id"], "text": text, "status": 0, "seconds": 2.0, "why": "", "whole": True})
            for step in variables["accept_steps"][host]
        ]
        (Path(variables["accept_keep"]) / f"{host}.jsonl").write_text("\n".join(lines))

    def tested(self) -> list[tuple[str, ...]]:
        """Return the hosts of each run of tests."""
        return [hosts for playbook, hosts in self.ran if playbook == "accept"]


class Floor:
    """A site of four hosts in a cluster, whose pool is accepted by `up`: its GPUs are counted, and no more."""

    def __init__(self, root: Path) -> None:
        """Write the spec and the key that signs."""
        self.folder = write(root / "floor", len(HOSTS), "floor")
        self.keys = root / "evidence_ed25519"
        self.settle(acceptance={"domains": ["pcie"]})

    def settle(self, **pool: Any) -> None:  # noqa: ANN401
        """Write keys of the pool."""
        file = self.folder / "site.yaml"
        spec = yaml.safe_load(file.read_text())
        spec["site"]["evidence"] = {"signing_key_file": str(self.keys)}
        spec["node_pools"]["light"] |= pool
        file.write_text(yaml.safe_dump(spec, sort_keys=False))
        self.write_inventory()

    def write_inventory(self) -> None:
        """Write the inventory of the plan, with every host in a cluster."""
        found = inventory(plan_site(load_site(self.folder)))
        for host in found["all"]["hosts"].values():
            host["drain_node"] = {"name": "x", "kubeconfig": "file:x"}
        (self.folder.parent / "inventory.yml").write_text(yaml.safe_dump(json.loads(json.dumps(found))))

    def inputs(self) -> dict[str, Any]:
        """Return the inputs of the play, as the program makes them."""
        plan = plan_site(load_site(self.folder))
        play = next(play for play in plan.plays if play.playbook == "accept")
        rollout = {"rollout": policy_json(play.rollout)} if play.rollout else {}
        hosts = play_hosts(plan)[play.name]
        return {"site": str(self.folder), "playbook": "accept", "codeDigest": "c1", "hosts": hosts, **rollout}

    @property
    def store(self) -> Store:
        """Return the site's evidence."""
        return ground_of(str(self.folder)).store


@pytest.fixture
def floor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Floor:
    """Return a new site, and let the provider find it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLDAISLE_INVENTORY", str(tmp_path / "inventory.yml"))
    write_key(tmp_path / "evidence_ed25519")
    return Floor(tmp_path)


class Engine:
    """Stands where the engine does: keeps what the play says, and asks again."""

    def __init__(self, floor: Floor, hosts: Hosts) -> None:
        """Know nothing yet."""
        self.floor, self.hosts = floor, hosts
        self.outputs: dict[str, Any] | None = None
        self.lines: list[str] = []
        self.now = 1_800_000_000.0

    def plays(self) -> Plays:
        """Return the provider of a new run, an hour after the last one."""
        self.now += 3600
        return Plays(lambda _urn, line: self.lines.append(line), runner=self.hosts.run, clock=lambda: self.now)

    def preview(self) -> list[str]:
        """Return what a preview shows."""
        self.lines = []
        self.plays().preview(URN, self.outputs, self.floor.inputs())
        return self.lines

    def up(self) -> list[str]:
        """Run `up`, and return the reasons why it is not complete."""
        plays, inputs = self.plays(), self.floor.inputs()
        try:
            if self.outputs is None:
                self.outputs = asyncio.run(plays.create(URN, inputs, 0))[1]
            elif plays.diff(self.outputs, inputs):
                self.outputs = asyncio.run(plays.update(URN, "accept-light", self.outputs, inputs, 0))
        except InitFailedError as error:
            self.outputs = error.outputs
            return error.reasons
        return []


@pytest.fixture
def hosts() -> Hosts:
    """Return hosts in order."""
    return Hosts()


@pytest.fixture
def engine(floor: Floor, hosts: Hosts) -> Engine:
    """Return an engine that knows nothing yet."""
    return Engine(floor, hosts)


def test_hosts_take_work_when_they_are_accepted_and_are_not_tested_twice(engine: Engine, hosts: Hosts) -> None:
    """The preview says who and how long; the evidence is that of the command; the next `up` has nothing to do."""
    assert engine.preview()[1].startswith("tests 4 hosts, phase quick, about 1 min side by side (r01-n01: it was never")
    assert engine.up() == []
    assert hosts.tested() == [HOSTS]
    assert hosts.gates[:4] == [f"{host} drain withdrawn" for host in HOSTS]
    assert hosts.gates[4:] == [f"{host} uncordon given" for host in HOSTS]
    assert sorted(bodies_of(engine.floor.store, HOSTS)) == list(HOSTS)
    assert engine.outputs is not None
    assert engine.outputs["hosts"] == engine.floor.inputs()["hosts"]
    assert engine.up() == []
    lost = Engine(engine.floor, hosts)  # an engine that has lost its state
    lost.now = engine.now
    assert lost.up() == []
    assert lost.outputs == engine.outputs
    assert len(hosts.tested()) == 1


def test_a_host_that_fails_is_told_with_its_part_and_others_go_on(engine: Engine, hosts: Hosts) -> None:
    """It stays out of service; after the third time it is in repair, by the journal, and no play touches it."""
    hosts.lame = {"r01-n02"}
    [reason] = engine.up()
    assert reason.startswith("r01-n02: not accepted: gpu-state: nvidia-smi sees 7 of 8 GPUs (part: r01-n02 GPU, slot ")
    assert re.search(r"; look at \S+-acceptance-r01-n02-[0-9a-f]+\.dsse\.json$", reason)
    assert [gate for gate in hosts.gates if "uncordon" in gate] == [
        f"{host} uncordon given" for host in HOSTS if host != "r01-n02"
    ]
    assert len(engine.up()) == 1
    assert hosts.tested()[1] == ("r01-n02",)
    [reason] = engine.up()
    assert "failed 3 times in a row: it is in repair, and no play touches it until 'coldaisle node accept" in reason
    assert load_site(engine.floor.folder).journal.states == {"r01-n02": "repair"}
    assert engine.up() == []
    assert len(hosts.tested()) == 3


def test_by_a_ticket_it_is_not_tested_again_until_a_part_has_changed(engine: Engine, hosts: Hosts) -> None:
    """Each `up` tells of it and tests nothing; other hardware in the delivery list begins the count anew."""
    engine.floor.settle(acceptance={"domains": ["pcie"], "after_failures": "ticket"})
    hosts.lame = {"r01-n02"}
    reasons = [engine.up()[0] for _ in range(4)]
    assert "a ticket is in" in reasons[2]
    assert reasons[3].startswith("r01-n02: not accepted: it failed 3 times in a row, and is not tried again as it is: ")
    assert len(hosts.tested()) == 3
    file = engine.floor.folder / "site.yaml"
    file.write_text(file.read_text().replace("52:54:01:00:01:02", "52:54:01:00:ff:02"))
    engine.floor.write_inventory()
    hosts.lame = set()
    assert engine.up() == []
    assert hosts.tested()[3] == ("r01-n02",)


def test_another_driver_makes_hosts_be_tested_again_in_waves(engine: Engine, hosts: Hosts) -> None:
    """The preview names the change; each wave is drained, tested and given back, and a refused canary stops it."""
    assert engine.up() == []
    rollout = {"max_at_once": 2, "max_unavailable": {"pool": "50%"}, "canary_soak_s": 600}
    spec = yaml.safe_load((engine.floor.folder / "site.yaml").read_text())["node_pools"]["light"]["gpu"]
    engine.floor.settle(gpu={**spec, "driver_floor": "590.10"}, rollout=rollout)
    assert "driver has changed, from driver=580.95.05 to driver=590.10" in engine.preview()[1]
    hosts.gates.clear()
    hosts.lame = {"r01-n01"}
    reasons = engine.up()
    assert reasons[0].startswith("r01-n01: not accepted: gpu-state: nvidia-smi sees 7 of 8 GPUs")
    assert [reason.partition(": ")[2].partition(": ")[0] for reason in reasons[1:]] == ["not started"] * 3
    assert hosts.gates == ["r01-n01 drain withdrawn"]
    hosts.lame = set()
    assert engine.up() == []
    assert hosts.tested()[1:] == [("r01-n01",), ("r01-n01",), ("r01-n02", "r01-n03"), ("r01-n04",)]


def test_a_read_tells_what_the_evidence_says(engine: Engine, hosts: Hosts) -> None:
    """Evidence that is gone is drift, and hosts are not asked."""
    assert engine.up() == []
    for path in engine.floor.store.files():
        if "r01-n03" in path.name:
            path.unlink()
    assert engine.outputs is not None
    seen = asyncio.run(engine.plays().read(URN, "accept-light", engine.outputs, engine.floor.inputs()))
    found = engine.plays().diff(seen, engine.floor.inputs())
    assert set(found) == {
        f'hosts["r01-n03"]["{fact}"]'
        for fact in ("accepted", "accepted_for.hardware", "accepted_for.driver", "accepted_for.cables")
    }
    assert len(hosts.ran) == 3
