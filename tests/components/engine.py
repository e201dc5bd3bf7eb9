"""Pulumi's real engine on copies of the project, each with a state of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from coldaisle.toolchain.environment import settings
from tests.programs import required

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Engine:
    """A project folder, and the environment in which the engine runs there."""

    project: Path
    env: dict[str, str]

    def __call__(self, *arguments: str, offline: bool = False) -> subprocess.CompletedProcess[str]:
        """Run `pulumi`; `offline` takes every network interface away but loopback, where the user is root."""
        command = ["pulumi", *arguments, "--non-interactive", "--color=never"]
        if offline and os.geteuid() == 0:
            command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
        return subprocess.run(
            command, cwd=self.project, env=self.env, capture_output=True, text=True, check=False, timeout=300
        )


def engine(folder: Path) -> Engine:
    """Return an engine for a new project in `folder` with the tools of `make up` and a state of its own."""
    state = folder / "state"
    state.mkdir()
    given = {
        **os.environ,
        "PULUMI_BACKEND_URL": state.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
    env = given | settings("test", given)
    required("pulumi", env["PATH"])
    return Engine(folder / "project", env)


def new_project(folder: Path, program: str) -> Path:
    """Write a project with the given program, as a team would that keeps only its own folders."""
    project = folder / "project"
    (project / "stacks").mkdir(parents=True)
    (project / "stacks" / "__main__.py").write_text(program, encoding="utf-8")
    (project / "Pulumi.yaml").write_text(
        f"""
name: coldaisle
runtime: {{name: python, options: {{virtualenv: {sys.prefix}}}}}
main: stacks
stackConfigDir: stacks
plugins:
  providers:
    - {{name: coldaisle, path: {ROOT / "components" / "provider"}}}
    - {{name: coldaisle-site, path: {ROOT / "components"}}}
""",
        encoding="utf-8",
    )
    return project
