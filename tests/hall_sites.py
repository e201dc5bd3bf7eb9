"""Halls for tests and benches: one is started from a spec of so many nodes, and gone when the block ends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from coldaisle.check import open_site
from coldaisle.paths import state_dir
from coldaisle.plan.model import SitePlan
from sim.hall import site as hall_site
from sim.hall import spec
from sim.hall.plan import Wanted, hall_plan
from sim.kernel_room import room
from sim.machines import Kind
from sim.power import PowerSwitch
from sim.processes import ProcessGroups
from sim.state import State

ROOT = Path(__file__).parents[1]
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
_numbers = count()


@dataclass(frozen=True)
class Hall:
    """A hall that is up. `plan` is its own; `folder` has the spec, and what a run of the plays leaves (hall_plays)."""

    name: str
    folder: Path
    plan: SitePlan
    state: State

    def command(self, *words: str) -> list[str]:
        """Return a command line that runs `words` on the hall's deploy host."""
        return hall_site.inside(self.name, words)

    def environment(self) -> dict[str, str]:
        """
        Return the variables of a command that works on the hall: our tools first on PATH, and bytecode kept.

        Without the latter each process would compile our modules anew, as it does for no user.
        """
        own = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        }
        given = {name: value for name, value in hall_site.environment(self.name).items() if name != NO_BYTECODE}
        return given | own

    def run(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command on the hall's deploy host, and return it with its output."""
        done = subprocess.run(
            self.command(*words), cwd=ROOT, env=self.environment(), capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done

    def plays(self, verb: str, *arguments: str) -> dict[str, Any]:
        """Run the plays of the hall by the provider's own path (see hall_plays), and return what it tells."""
        found: dict[str, Any] = json.loads(self.run(*self.plays_command(verb, *arguments)).stdout.splitlines()[-1])
        return found

    def plays_command(self, verb: str, *arguments: str) -> list[str]:
        """Return the words that run plays on the deploy host."""
        return [sys.executable, "-m", "tests.hall_plays", str(self.folder), verb, *arguments]

    def switch_off(self) -> None:
        """Turn every machine off, and forget the settings of its BMC."""
        switch = PowerSwitch(self.state)
        for machine in hall_site.machines(self.name):
            switch.turn_off(machine)
            (self.state.bmcs / f"{machine.name}.json").unlink(missing_ok=True)

    def restart_bmcs(self) -> None:
        """End the processes of the BMCs, with every session that somebody has left, and start them again."""
        groups = ProcessGroups(self.state.site)
        for name in (name for name in groups.names() if name.startswith("bmc-")):
            groups.stop(name, grace_s=0)
        self.replan()

    def replan(self) -> None:
        """Take the spec as it is now: what has changed of it is written anew, and what runs goes on."""
        kinds = {machine.kind for machine in hall_site.machines(self.name)}
        hall_site.up(open_site(self.folder).plan, Wanted(kind=kinds.pop()), lambda _line: None)

    def renew(self) -> None:
        """Install every machine anew: off, with the image's own files, and unknown to the deploy host."""
        self.switch_off()
        for machine in hall_site.machines(self.name):
            shutil.rmtree(machine.path)
        (self.folder / "outputs.json").unlink(missing_ok=True)
        for sockets in self.state.folder.glob("ssh*"):
            shutil.rmtree(sockets, ignore_errors=True)
        shutil.rmtree(self.state.folder / "disks", ignore_errors=True)
        (self.state.folder / "known_hosts").unlink(missing_ok=True)
        self.replan()


@contextmanager
def hall(
    nodes: int, kind: Kind = "light", name: str = "", *, serials: bool = False, a_rack: int = spec.NODES_PER_RACK
) -> Iterator[Hall]:
    """
    Start a hall of `nodes` machines, so many in `a_rack`, and take all of it away at the end.

    Its spec lies directly in the folder of temporary files: sockets below it have short paths.
    """
    name = name or f"h{os.getpid() % 100000}x{next(_numbers)}"
    state = hall_site.state_of(name)
    with tempfile.TemporaryDirectory(prefix="ch") as folder:
        site = spec.write(Path(folder) / "site", nodes, name, serials=serials, a_rack=a_rack)
        wanted = Wanted(kind=kind)
        try:
            plan = open_site(site).plan
            with room(hall_site.need_of(nodes)):
                hall_site.up(plan, wanted, lambda _line: None)
                own = State(state.site, state_dir(state.site), state.mark)
                yield Hall(name, site, hall_plan(plan, state, wanted), own)
        finally:
            hall_site.down(name, lambda _line: None)
            shutil.rmtree(state.folder, ignore_errors=True)  # Ansible's known hosts


@contextmanager
def hall_in_order(nodes: int) -> Iterator[Hall]:
    """Start a hall of light hosts, and apply every play to it."""
    with hall(nodes) as found:
        found.plays("prepare")
        told = found.plays("apply")
        assert told["reasons"] == {}, told
        yield found
