"""Plays under the real engine: nothing to do twice, drift, exit codes, ^C and `kill -9` in the middle, secrets."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from coldaisle.cli import engine_events
from coldaisle.toolchain.environment import settings
from tests.programs import required
from tests.provider.conftest import PLAYBOOKS, Floor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
GIVEN = {**os.environ, "PULUMI_BACKEND_URL": "x", "PULUMI_HOME": "x", "PULUMI_CONFIG_PASSPHRASE": "x"}
ENGINE_SETTINGS = settings("dev", GIVEN)
SECRET = "correct-horse-battery-staple"  # noqa: S105 - the value that must not be found
PASSPHRASE = "a-passphrase-of-the-engine"  # noqa: S105 - the same

PROGRAM = """
import json
from pathlib import Path
from components.play import Play
inputs = json.loads(Path(__file__).with_name("inputs.json").read_text())
Play("os-train", site="floor", playbook=inputs["playbook"], code_digest=inputs["codeDigest"], hosts=inputs["hosts"])
"""


class Stack:
    """A stack of one play on two hosts."""

    def __init__(self, root: Path) -> None:
        """Write the project, its site and its secret, and make the stack."""
        self.root = root
        (root / "floor").mkdir()
        self.floor = Floor(root / "floor")
        self.floor.names = self.floor.names[:2]
        (root / "secret").write_text(SECRET)
        self.floor.write_inventory(secret_file=root / "secret")
        self.inventory = self.floor.inventory
        (root / "stacks").mkdir()
        (root / "backend").mkdir()
        (root / "Pulumi.yaml").write_text(
            f"name: floor\nruntime: {{name: python, options: {{virtualenv: {ROOT / '.venv'}}}}}\nmain: stacks\n"
            f"plugins: {{providers: [{{name: coldaisle, path: {ROOT / 'components' / 'provider'}}}]}}\n",
        )
        (root / "stacks" / "__main__.py").write_text(f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{PROGRAM}")
        self.plan()
        self.pulumi("stack", "init", "dev")

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of the engine; ours is the language host where there is no other."""
        own = {
            **os.environ,
            "PULUMI_HOME": str(self.root / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
            "XDG_STATE_HOME": str(self.floor.root / "state"),
            "COLDAISLE_INVENTORY": str(self.inventory),
            "COLDAISLE_PLAYBOOKS": str(PLAYBOOKS),
        }
        return own | ENGINE_SETTINGS

    def plan(self, **changes: Any) -> None:  # noqa: ANN401
        """Write the inputs of the play."""
        (self.root / "stacks" / "inputs.json").write_text(json.dumps(self.floor.inputs(**changes)))

    def start(self, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """Start a command of the engine."""
        return subprocess.Popen(
            [required("pulumi", self.environment["PATH"]), *arguments, "--non-interactive"],
            cwd=self.root,
            env=environment or self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def pulumi(self, *arguments: str) -> tuple[int, str]:
        """Run a command of the engine; return its exit code and what it printed."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=300)
        return process.returncode, out if out.startswith("{") else out + err

    def up(self) -> tuple[int, str]:
        """Run `pulumi up`."""
        return self.pulumi("up", "--yes", "--skip-preview")

    def drift(self) -> tuple[int, str]:
        """Run the preview that looks for drift."""
        return self.pulumi("preview", "--refresh", "--json", "--expect-no-changes")

    def state(self) -> bytes:
        """Return the state's file."""
        [file] = (self.root / "backend").rglob("dev.json")
        return file.read_bytes()

    def outputs(self) -> dict[str, Any]:
        """Return the outputs of the play as the state has them."""
        resources = json.loads(self.state())["checkpoint"]["latest"]["resources"]
        found: dict[str, Any] = next(each["outputs"] for each in resources if each["type"] == "coldaisle:ansible:Play")
        return found


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Return a stack that is up; the tests leave it as planned."""
    made = Stack(tmp_path_factory.mktemp("engine"))
    code, output = made.up()
    assert code == 0, output
    yield made
    code, output = made.pulumi("destroy", "--yes", "--skip-preview")
    assert code == 0, output
    assert made.floor.seen("h1") is None


def wait_for(condition: Callable[[], object], limit_s: float = 60) -> None:
    """Wait until the condition holds; fail after the limit."""
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.2)


def test_a_second_preview_has_nothing_to_do(stack: Stack) -> None:
    """What `up` has applied is as planned, by a look at the hosts, too; the state stays the same to the byte."""
    before = stack.state()
    code, output = stack.drift()
    assert code == 0, output
    assert json.loads(output)["changeSummary"] == {"same": 2}
    assert stack.state() == before


def test_how_far_a_read_is_can_be_followed(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the provider says of a play while it waits for a host comes from the engine's log of events."""
    monkeypatch.setattr(engine_events, "LOOK_S", 0.05)
    stack.floor.set("h2", "slow", "2")
    said: list[str] = []
    try:
        with engine_events.followed(said.append) as (options, settings):
            process = stack.start("preview", "--refresh", "--json", *options, environment=stack.environment | settings)
            process.communicate(timeout=300)
    finally:
        stack.floor.set("h2", "slow", "")
    assert process.returncode == 0
    assert "2 of 2 hosts asked" in said


def test_drift_is_shown_by_host_and_repaired(stack: Stack) -> None:
    """The preview names host and fact and exits with 7, the state stays, and `up` works on that host alone."""
    runs, before = stack.floor.runs("h1"), stack.state()
    stack.floor.set("h2", "facts.json", '{"hostname": "h2", "mtu.rail0": 1500}')
    code, output = stack.drift()
    assert code == 7
    [change] = [step for step in json.loads(output)["steps"] if step["op"] == "update"]
    assert change["detailedDiff"] == {'hosts["h2"]["mtu.rail0"]': {"kind": "update", "inputDiff": False}}
    assert stack.state() == before
    code, output = stack.pulumi("up", "--yes", "--skip-preview", "--refresh")
    assert code == 0, output
    assert stack.floor.seen("h2") == stack.floor.facts("h2")
    assert stack.floor.runs("h1") == runs


def test_a_silent_host_is_a_warning_and_stays_in_the_state(stack: Stack) -> None:
    """The engine goes on, says which host and why, and the host's facts stay."""
    stack.floor.write_inventory(unreachable=("h2",), secret_file=stack.root / "secret")
    try:
        code, output = stack.pulumi("refresh", "--yes", "--skip-preview")
    finally:
        stack.floor.write_inventory(secret_file=stack.root / "secret")
    assert code == 0, output
    assert "h2: could not tell since" in output
    assert stack.outputs()["hosts"]["h2"]["mtu.rail0"] == 9000
    code, output = stack.up()  # asks again, since the resource was incomplete
    assert code == 0, output
    assert "initErrors" not in stack.state().decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_is_finished_by_the_next(stack: Stack, number: signal.Signals) -> None:
    """After ^C and after `kill -9` of the engine nothing runs on, and the next `up` ends as planned."""
    stack.floor.set("h1", "behaviour", "sleep 60")
    stack.plan(codeDigest=f"c-{number}")
    runs = stack.floor.runs("h1")
    process = stack.start("up", "--yes", "--skip-preview")
    wait_for(lambda: stack.floor.runs("h1") > runs)
    process.send_signal(number)
    process.communicate(timeout=30)
    wait_for(lambda: not stack.floor.processes(), limit_s=15)
    stack.floor.set("h1", "behaviour", "")
    stack.pulumi("cancel", "--yes")
    code, output = stack.up()
    assert code == 0, output
    assert stack.outputs()["codeDigest"] == f"c-{number}"
    assert list((stack.floor.state / "runs").iterdir()) == []


def another_operator(stack: Stack, root: Path) -> Stack:
    """Return the same stack in another clone, with a state of its own, whose plan has another MTU."""
    root.mkdir()
    for part in ("Pulumi.yaml", "stacks", "backend"):
        (shutil.copytree if (stack.root / part).is_dir() else shutil.copy)(stack.root / part, root / part)
    found = copy.copy(stack)
    found.root, found.inventory = root, root / "inventory.yml"
    found.inventory.write_text(stack.inventory.read_text().replace("9000", "4200"))
    found.plan(hosts={name: {"hostname": name, "mtu.rail0": 4200, "varsDigest": "v2"} for name in stack.floor.names})
    return found


@pytest.mark.drill
def test_of_two_conflicting_changes_at_once_one_is_made(stack: Stack, tmp_path: Path) -> None:
    """One `up` ends as its plan says; the other fails, told what runs since when, and no host has some of both."""
    floor, operators = stack.floor, (stack, another_operator(stack, tmp_path / "other"))
    stack.plan(codeDigest="c-conflict")
    floor.set("h1", "behaviour", "sleep 25")
    runs = [floor.runs(name) for name in floor.names]
    running = [each.start("up", "--stack", "dev", "--yes", "--skip-preview") for each in operators]
    told = ["".join(process.communicate(timeout=300)) for process in running]
    codes = [process.returncode for process in running]
    winner = codes.index(0)
    assert codes[1 - winner] != 0, told
    assert re.search(r"h\d is being changed by the play os-train, process \d+, since 20\d\d-", told[1 - winner])
    assert [floor.runs(name) - before for name, before in zip(floor.names, runs, strict=True)] == [1, 1]
    mtu = (9000, 4200)[winner]
    assert [floor.seen(name) for name in floor.names] == [{"hostname": name, "mtu.rail0": mtu} for name in floor.names]
    floor.set("h1", "behaviour", "")
    code, output = stack.pulumi("up", "--yes", "--skip-preview", "--refresh")
    assert code == 0, output


def test_no_secret_is_left_anywhere(stack: Stack) -> None:
    """Neither the playbook's secret nor the engine's passphrase is in the backend or in the site's state."""
    folders = (stack.root / "backend", stack.floor.state, stack.root / "home")
    kept = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    for secret in (SECRET.encode(), PASSPHRASE.encode()):
        assert [path for path in kept if secret in path.read_bytes()] == []
