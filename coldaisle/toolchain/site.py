"""
From a fresh machine to the simulated site under Pulumi's care, and back.

Each part is one command that a person could type as well; this module only puts them in order, lets what can run
beside each other do so, and says how long each took.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coldaisle.toolchain import debian, tools, venv
from coldaisle.toolchain.environment import environment, pulumi_home
from coldaisle.toolchain.errors import SetupError
from coldaisle.toolchain.locks import one_at_a_time
from coldaisle.toolchain.places import cache_dir, project_root, state_dir, venv_dir
from coldaisle.toolchain.progress import minutes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

SITE = "sim"
CLUSTER_TOOLS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "etcd", "kwok")
AUTOSCALER_TOOLS = ("keda-operator", "keda-adapter")
AUTOSCALER = "**:Autoscaler**"
"""The autoscaler and all that it holds, as a pattern of resource names."""

UP = ("pulumi", "up", "--stack", SITE, "--yes", "--skip-preview", "--non-interactive", "--refresh")
"""With a refresh, so that what was changed by hand is repaired; without one `up` trusts the state."""

ENGINE_TOOLS = ("pulumi", "pulumi-resource-kubernetes")


class CommandFailedError(Exception):
    """A command of the bring-up failed and has said why on the terminal."""

    def __init__(self, command: Sequence[str], exit_code: int) -> None:
        """Keep the command for the message and its exit code for ours."""
        super().__init__(f"`{' '.join(command)}` exited {exit_code}")
        self.exit_code = exit_code


@dataclass
class Stopwatch:
    """How long each part took, printed at the end."""

    parts: dict[str, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Time one part; a part that fails is named in the message."""
        sys.stderr.write(f"{name}\n")
        started = time.monotonic()
        try:
            yield
        finally:
            self.parts[name] = time.monotonic() - started

    def report(self) -> str:
        """Return a line for each part and their sum."""
        total = sum(self.parts.values())
        lines = [f"  {minutes(seconds):>7}  {name}" for name, seconds in self.parts.items()]
        return "\n".join([*lines, f"  {minutes(total):>7}  together"])


def install(names: Collection[str] | None = None) -> tools.Tools:
    """
    Install what is missing: Debian packages and Python packages before this returns, tools in the background.

    With names only these tools are built: a preview does not need a control plane.
    """
    started = tools.start(names)
    try:
        with one_at_a_time(cache_dir() / "install.lock", "packages"):
            debian.install(debian.missing())
            venv.ensure()
    except BaseException:
        started.stop()
        raise
    return started


def up() -> None:
    """Bring the simulated site up with `pulumi up`, installing what is missing first."""
    watch = Stopwatch()
    with one_at_a_time(state_dir() / "up.lock", "make up"):
        with watch.part("packages"):
            started = install()
        try:
            _bring_up(started, watch)
        except BaseException:
            started.stop()
            raise
    sys.stderr.write(f"The simulated site is up.\n{watch.report()}\n")
    sys.stderr.write("Look at it: make preview STACK=sim, make drift STACK=sim, .venv/bin/coldaisle sim status sim\n")


def down() -> None:
    """Remove every trace of the simulated site: processes, namespaces, state, keys. The cache stays."""
    with one_at_a_time(state_dir() / "up.lock", "make down"):
        if (venv_dir() / "bin" / "coldaisle").exists():
            run([_coldaisle(), "sim", "down", SITE])
        _refuse_if_mounted(state_dir() / SITE)
        for folder in (state_dir() / SITE, state_dir() / "tools", pulumi_home()):
            shutil.rmtree(folder, ignore_errors=True)
    (state_dir() / "up.lock").unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        state_dir().rmdir()  # only when nothing else is in it


def _refuse_if_mounted(folder: Path) -> None:
    """Stop before anything is deleted through a mount: a host's root may lie over files that others use."""
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    if below := [point for point in points if Path(point).is_relative_to(folder)]:
        fix = "coldaisle sim down sim, then make down again"
        raise SetupError("file systems of simulated hosts are still mounted", have=", ".join(below), fix=fix)


def is_up() -> bool:
    """Return whether the simulated site answers and Pulumi has brought it up."""
    if not (state_dir() / SITE / "pulumi" / ".pulumi" / "stacks").exists():
        return False
    status = subprocess.run(
        [_coldaisle(), "sim", "status", SITE],
        env=environment(SITE),
        capture_output=True,
        cwd=project_root(),
        check=False,
    )
    return status.returncode == 0


def select(stack: str) -> None:
    """Make sure that the stack exists in the backend."""
    run(["pulumi", "stack", "select", "--create", "--non-interactive", stack], stack)


def run(command: Sequence[str], stack: str = SITE, more: dict[str, str] | None = None) -> None:
    """Run one command in the stack's environment; CommandFailedError when it fails."""
    settings = {**environment(stack), **(more or {})}
    program = shutil.which(command[0], path=settings["PATH"])
    if program is None:
        fix = "make up, or see `coldaisle doctor` for what is missing"
        raise SetupError(f"{command[0]} is not there", have="no such program on PATH or in the cache", fix=fix)
    done = subprocess.run(
        [program, *command[1:]], env=settings, cwd=project_root(), stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode != 0:
        raise CommandFailedError(command, done.returncode)


def replace_process(command: Sequence[str], stack: str) -> None:
    """Become the command, in the stack's environment; SetupError when there is no such program."""
    settings = environment(stack)
    program = shutil.which(command[0], path=settings["PATH"])
    if program is None:
        fix = "make up, or see `coldaisle doctor` for what is missing"
        raise SetupError(f"{command[0]} is not there", have="no such program on PATH or in the cache", fix=fix)
    sys.stdout.flush()
    os.execve(program, list(command), settings)  # noqa: S606 - no shell is wanted, and none of its quoting


def _bring_up(started: tools.Tools, watch: Stopwatch) -> None:
    with watch.part("tools of the cluster"):
        started.wait(CLUSTER_TOOLS)
    with watch.part("simulated site"):
        run([_coldaisle(), "sim", "up", SITE])
    with watch.part("engine"):
        started.wait(ENGINE_TOOLS)
        select(SITE)
    if not started.ready(AUTOSCALER_TOOLS):
        # Its build is the longest: everything else is brought up meanwhile, and the autoscaler follows.
        with watch.part("pulumi up, without the autoscaler"):
            run([*UP, "--exclude", AUTOSCALER, "--exclude-dependents"])
        with watch.part("autoscaler's tools"):
            started.wait()
    with watch.part("pulumi up"):
        started.wait()
        run(UP)


def _coldaisle() -> str:
    return str(Path(venv_dir(), "bin", "coldaisle"))
