"""The real engine on a hall: a project with a program of its own, whose commands run on the hall's deploy host."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from coldaisle.toolchain.environment import settings
from tests.hall_sites import ROOT, Hall
from tests.programs import required

TIMEOUT_S = 400


@dataclass(frozen=True)
class Engine:
    """A project of the engine with a local backend; `rendered` has the provider make the inventory of the spec."""

    hall: Hall
    project: Path
    rendered: bool = False

    def pulumi(self, *words: str) -> tuple[int, str]:
        """Run the engine on the hall's deploy host; return its exit code and output."""
        own = {
            "PULUMI_HOME": str(self.project / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.project / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "a-passphrase-of-the-engine",
        }
        environment = self.hall.environment() | own
        environment |= settings("dev", {**environment, **own})
        if self.rendered:
            del environment["COLDAISLE_INVENTORY"]
        command = self.hall.command(required("pulumi", environment["PATH"]), *words, "--non-interactive")
        done = subprocess.run(
            command, cwd=self.project, env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )
        return done.returncode, done.stdout if done.stdout.startswith("{") else done.stdout + done.stderr


def start(hall: Hall, folder: Path, program: str, *, rendered: bool = False) -> Engine:
    """Write a project of the engine, and make its stack."""
    for name in ("stacks", "backend"):
        (folder / name).mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text(
        f"name: {folder.name}\nruntime: {{name: python, options: {{virtualenv: {ROOT / '.venv'}}}}}\nmain: stacks\n"
        f"plugins: {{providers: [{{name: coldaisle, path: {ROOT / 'components' / 'provider'}}}]}}\n"
    )
    (folder / "stacks" / "__main__.py").write_text(program)
    found = Engine(hall, folder, rendered)
    code, said = found.pulumi("stack", "init", "dev")
    assert code == 0, said
    return found
