"""
A preview with nothing to do, of 5,000 nodes: 63 plays of 80 hosts, each with 12 facts.

The state is imported instead of applied, so that what is measured is the program, the engine and the provider. Budget:
12 CPU seconds and 400 MiB in the largest process.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from coldaisle.toolchain.environment import settings

ROOT = Path(__file__).parents[2]
PLAYS, HOSTS, FACTS = 63, 80, 12
PROVIDER = "urn:pulumi:dev::bench::pulumi:providers:coldaisle::default"
PROVIDER_ID = "00000000-0000-4000-8000-000000000000"
STACK = "urn:pulumi:dev::bench::pulumi:pulumi:Stack::bench-dev"

PROGRAM = f"""
import json, sys
from pathlib import Path
sys.path.insert(0, {str(ROOT)!r})
from components.play import Play
for name, inputs in json.loads(Path(__file__).with_name("plays.json").read_text()).items():
    Play(name, site="bench", playbook=inputs["playbook"], code_digest=inputs["codeDigest"], hosts=inputs["hosts"])
"""


def inputs_of(play: int) -> dict[str, Any]:
    """Return the inputs of one play."""
    facts: dict[str, Any] = {f"fact.{number}": f"value-{number}" for number in range(FACTS - 2)}
    facts |= {"mtu.rail0": 9000, "persistence": True, "varsDigest": "0" * 64}
    hosts = {f"r{play:02}-n{host:02}": {"hostname": f"r{play:02}-n{host:02}", **facts} for host in range(HOSTS)}
    return {"site": "bench", "playbook": "os", "codeDigest": "c1", "hosts": hosts} | {
        "timeoutS": 3600,
        "forks": 25,
        "onDelete": "undo",
    }


def resources(plays: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the resources of a state in which all plays have been applied."""
    common = {"custom": True, "parent": STACK, "provider": f"{PROVIDER}::{PROVIDER_ID}"}
    made: list[dict[str, Any]] = [
        {"urn": STACK, "custom": False, "type": "pulumi:pulumi:Stack"},
        {"urn": PROVIDER, "custom": True, "id": PROVIDER_ID, "type": "pulumi:providers:coldaisle", "inputs": {}},
    ]
    for name, inputs in plays.items():
        urn = f"urn:pulumi:dev::bench::coldaisle:ansible:Play::{name}"
        made.append(
            {"urn": urn, "id": name, "type": "coldaisle:ansible:Play", "inputs": inputs, "outputs": inputs} | common
        )
    return made


def write_project(root: Path, plays: dict[str, dict[str, Any]]) -> None:
    """Write a project of these plays."""
    (root / "stacks").mkdir()
    (root / "backend").mkdir()
    (root / "stacks" / "__main__.py").write_text(PROGRAM)
    (root / "stacks" / "plays.json").write_text(json.dumps(plays))
    (root / "Pulumi.yaml").write_text(
        f"name: bench\nruntime: {{name: python, options: {{virtualenv: {ROOT / '.venv'}}}}}\nmain: stacks\n"
        f"plugins: {{providers: [{{name: coldaisle, path: {ROOT / 'components' / 'provider'}}}]}}\n",
    )


def run(root: Path, *arguments: str, given: str | None = None) -> str:
    """Run the engine and return its output; end with what it says where it fails."""
    own = {**os.environ, "PULUMI_HOME": str(root / "home"), "PULUMI_BACKEND_URL": f"file://{root / 'backend'}"}
    environment = own | settings("dev", own)
    pulumi = shutil.which("pulumi", path=environment["PATH"]) or sys.exit("no pulumi on PATH: run 'make up' first")
    done = subprocess.run(
        [pulumi, *arguments, "--non-interactive"],
        cwd=root,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"pulumi {' '.join(arguments)} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def figures() -> dict[str, float]:
    """Measure; return the figures by name."""
    plays = {f"os-r{play:02}": inputs_of(play) for play in range(PLAYS)}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_project(root, plays)
        run(root, "stack", "init", "dev")
        state = json.loads(run(root, "stack", "export"))
        state["deployment"]["resources"] = resources(plays)
        run(root, "stack", "import", given=json.dumps(state))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(root, "preview", "--expect-no-changes")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "noop_preview_5000_cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "noop_preview_5000_largest_process_mib": after.ru_maxrss / 1024,
    }


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{name} {value:.2f}")  # noqa: T201 - a bench prints its figures
