"""
Long-lived processes of the simulation: each in a cgroup, a session and a log of its own.

The cgroup is how a process is found again: it holds all its children, survives a crash of whoever started it, and is
never the process of somebody else, as a number in a pid file may be.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sim.errors import SimError
from sim.shell import environment, find

HIERARCHIES = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/systemd"), Path("/sys/fs/cgroup/unified"))
"""Where cgroups may be: version 2 alone, or the two named ones beside version 1."""

POLL_S = 0.05
STOP_S = 10.0


def hierarchies() -> tuple[Path, ...]:
    """Return the cgroup trees of this machine that can hold processes."""
    return tuple(path for path in HIERARCHIES if (path / "cgroup.procs").exists())


class ProcessGroups:
    """The processes of one site. `site` names the cgroup that holds a cgroup a process."""

    def __init__(self, site: str) -> None:
        """Look for the cgroup trees; SimError when the machine mounts none."""
        self._name = f"coldaisle-{site}"
        self._trees = hierarchies()
        if not self._trees:
            fix = "mount a cgroup2 file system at /sys/fs/cgroup"
            raise SimError("cgroups", "the simulation keeps each process in a cgroup", "none is mounted", fix)

    def start(
        self,
        name: str,
        command: Sequence[str | Path],
        log: Path,
        *,
        namespace: str | None = None,
        extra_environment: Mapping[str, str] | None = None,
    ) -> None:
        """
        Start a process that outlives this one.

        Args:
            name: What it is found by later: one process (with its children) a name.
            command: The program and its arguments.
            log: Gets all output, appended.
            namespace: The network namespace to run in; the file system stays the machine's own.
            extra_environment: Variables beside this process's own.
        """
        inside = [find("nsenter", "util-linux"), f"--net=/run/netns/{namespace}"] if namespace else []
        words = self.joined(name, [*inside, *map(str, command)])
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                cwd="/",
                env={**environment(), **(extra_environment or {})},
            )
        self._wait_started(name)

    def joined(self, name: str, command: Sequence[str]) -> list[str]:
        """Return a command line that runs `command` under a name, for a caller who waits for its end himself."""
        folders = [tree / self._name / name for tree in self._trees]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        enter = 'for group in $1; do echo $$ >"$group/cgroup.procs"; done; shift; exec "$@"'
        return ["sh", "-c", enter, name, " ".join(map(str, folders)), *command]

    def _wait_started(self, name: str) -> None:
        """Wait until the process is in its cgroup, so that a look at it directly afterwards finds it."""
        deadline = time.monotonic() + STOP_S
        while not self.pids(name) and time.monotonic() < deadline:
            time.sleep(POLL_S)

    def pids(self, name: str) -> tuple[int, ...]:
        """Return the processes of one name with all their children; empty when none runs."""
        found: dict[int, None] = {}
        for tree in self._trees:
            for procs in (tree / self._name / name).rglob("cgroup.procs"):
                with suppress(OSError):
                    found |= {int(line): None for line in procs.read_text().split()}
        return tuple(found)

    def names(self) -> tuple[str, ...]:
        """Return every name that has a cgroup, running or not."""
        folders = (path for tree in self._trees for path in (tree / self._name).glob("*") if path.is_dir())
        return tuple(sorted({path.name for path in folders}))

    def signal(self, name: str, number: int) -> None:
        """Send a signal to every process of a name."""
        for pid in self.pids(name):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def stop(self, name: str, *, grace_s: float = 2.0) -> None:
        """End a process with its children: politely, and after `grace_s` by force; then remove its cgroup."""
        if grace_s > 0:
            self.signal(name, signal.SIGTERM)
            self._wait_gone(name, grace_s)
        deadline = time.monotonic() + STOP_S
        while self.pids(name) and time.monotonic() < deadline:
            self.signal(name, signal.SIGKILL)
            self._wait_gone(name, POLL_S * 2)
        self._remove(name)

    def stop_all(self) -> None:
        """End everything at once by force, and remove the site's cgroups."""
        for name in self.names():
            self.signal(name, signal.SIGKILL)
        for name in self.names():
            self.stop(name, grace_s=0)
        for tree in self._trees:
            with suppress(OSError):
                (tree / self._name).rmdir()

    def _wait_gone(self, name: str, limit_s: float) -> None:
        deadline = time.monotonic() + limit_s
        while self.pids(name) and time.monotonic() < deadline:
            time.sleep(POLL_S)

    def _remove(self, name: str) -> None:
        """Remove the cgroups of a name, innermost first: an init makes more below its own."""
        for tree in self._trees:
            top = tree / self._name / name
            inner = sorted((path for path in top.rglob("*") if path.is_dir()), key=lambda path: -len(path.parts))
            for folder in (*inner, top):
                with suppress(OSError):
                    folder.rmdir()

    def cpu_s(self, name: str) -> float | None:
        """Return the CPU seconds of a name, of its ended processes too; None where the kernel's cgroups do not tell."""
        for tree in self._trees:
            with suppress(OSError):
                for line in (tree / self._name / name / "cpu.stat").read_text().splitlines():
                    if line.startswith("usage_usec "):
                        return int(line.split()[1]) / 1e6
        return None

    def memory_bytes(self, name: str) -> int:
        """Return the memory of a name: what its processes have, with what they share counted in parts (PSS)."""
        return sum(proportional_bytes(pid) for pid in self.pids(name))


def proportional_bytes(pid: int) -> int:
    """Return the proportional set size of one process; 0 when it is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
