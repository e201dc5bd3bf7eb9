"""The language host with the real engine: programs, failures, cancellation, and an engine that is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coldaisle.toolchain.environment import path

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
HOST = ROOT / "tools" / "langhost" / "pulumi-language-python"
PULUMI = shutil.which("pulumi", path=path(os.environ))

pytestmark = pytest.mark.skipif(PULUMI is None, reason="needs the pulumi CLI on PATH: make setup")


class Project:
    """A Pulumi project of one program, with a state and a home of its own."""

    def __init__(self, folder: Path) -> None:
        """Write the project and make its stack."""
        self.folder = folder
        (folder / "state").mkdir()
        (folder / "Pulumi.yaml").write_text(
            f"name: langhost\nruntime: {{name: python, options: {{virtualenv: {ROOT / '.venv'}}}}}\nmain: stacks\n",
        )
        (folder / "stacks").mkdir()
        only = folder / "bin"  # our host and no other: an official one may be beside the CLI
        only.mkdir()
        (only / "pulumi").symlink_to(PULUMI or "")
        (only / HOST.name).symlink_to(HOST)
        self.environment = {
            **os.environ,
            "PATH": f"{only}:{os.environ['PATH']}",
            "COLDAISLE_LANGUAGE_HOST": str(HOST),  # for an engine of ours, which looks beside itself
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }
        self.pulumi("stack", "init", "dev")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command of the CLI."""
        return subprocess.Popen(
            ["pulumi", *arguments, "--non-interactive"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def pulumi(self, *arguments: str) -> tuple[int, str]:
        """Run a command of the CLI; return its exit code and its output."""
        process = self.start(*arguments)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output

    def program(self, text: str) -> None:
        """Write the program."""
        (self.folder / "stacks" / "__main__.py").write_text(text)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a new project."""
    return Project(tmp_path)


def alive(project: Project) -> list[str]:
    """Return the command lines of running processes that have the project's environment."""
    marker = f"PULUMI_HOME={project.folder / 'home'}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if marker in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it ended while we looked
    return found


def wait_for(condition: Callable[[], bool], limit_s: float = 30) -> None:
    """Wait until the condition holds or the limit is over."""
    end = time.monotonic() + limit_s
    while not condition() and time.monotonic() < end:
        time.sleep(0.2)


def test_a_program_gets_its_configuration_and_exports_outputs(project: Project) -> None:
    """Configuration reaches the program, modules beside it import, and outputs reach the state."""
    (project.folder / "stacks" / "beside.py").write_text("VALUE = 3\n")
    project.program("import beside, pulumi\npulumi.export('out', f'{beside.VALUE} {pulumi.Config().get(\"key\")}')\n")
    code, output = project.pulumi("up", "--yes", "--skip-preview", "--config", "key=hello")
    assert code == 0, output
    assert project.pulumi("stack", "output", "out") == (0, "3 hello\n")


def test_a_run_error_is_shown_without_a_traceback(project: Project) -> None:
    """A program that says why it stops gets its message shown once, and nothing of Python around it."""
    project.program("import pulumi\nraise pulumi.RunError('rack r03 is over its feed')\n")
    code, output = project.pulumi("preview")
    assert code != 0
    assert "rack r03 is over its feed" in output
    assert "Traceback" not in output


def test_a_crash_shows_its_traceback(project: Project) -> None:
    """A program that fails by mistake shows where."""
    project.program("def broken():\n    raise ValueError('by mistake')\nbroken()\n")
    code, output = project.pulumi("preview")
    assert code != 0
    assert "in broken" in output
    assert "ValueError: by mistake" in output


def test_a_missing_virtual_environment_is_named(project: Project) -> None:
    """The message says which environment is missing and how to make it."""
    settings = project.folder / "Pulumi.yaml"
    settings.write_text(settings.read_text().replace(".venv", ".no-such-venv"))
    project.program("")
    code, output = project.pulumi("preview")
    assert code != 0
    assert ".no-such-venv" in output
    assert "pulumi install" in output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_the_engine(project: Project, number: signal.Signals) -> None:
    """After ^C and after `kill -9` of the engine, neither the host nor the program is left."""
    project.program("import time\ntime.sleep(60)\n")
    process = project.start("preview")
    wait_for(lambda: any("child.py program" in line for line in alive(project)))
    process.send_signal(number)
    process.communicate(timeout=30)
    wait_for(lambda: not alive(project), limit_s=10)
    assert alive(project) == []
