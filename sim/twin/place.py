"""Where a twin runs, and how nothing of it stays: its namespaces, cgroups and folder all have its name."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from sim.mounts import mounts_below
from sim.network import namespaces, remove_namespaces
from sim.processes import ProcessGroups
from sim.shell import run
from sim.state import State

RUN = Path("/run/coldaisle-twin")
"""Folders of running twins. The name of a socket may have 107 characters, so that a home folder is too deep."""

FRR_SCRATCH = Path("/var/tmp/frr")  # noqa: S108 - fixed in FRR, which leaves a folder a daemon that was ended by force
GOING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Place:
    """
    A twin's name, folder and processes.

    No name of a site or a fabric has an underscore, so that no twin's name begins another's.
    """

    site: str
    fabric: str

    @property
    def key(self) -> str:
        """Return what tells this twin from all others."""
        return f"{self.site}_{self.fabric}"

    @property
    def prefix(self) -> str:
        """Return what the names of all its namespaces start with."""
        return f"cat-{self.key}_"

    @property
    def folder(self) -> Path:
        """Return its folder: configurations, sockets and logs."""
        return RUN / self.key

    @property
    def logs(self) -> Path:
        """Return the folder of one log a process."""
        return self.folder / "logs"

    @property
    def groups(self) -> ProcessGroups:
        """Return its processes."""
        return ProcessGroups(f"twin-{self.key}")

    def namespace(self, device: str) -> str:
        """Return the name of a device's network namespace."""
        return f"{self.prefix}{device}"

    def sockets(self, switch: str) -> Path:
        """Return the folder of a switch's control sockets."""
        return self.folder / "sockets" / switch


@contextmanager
def held(place: Place) -> Iterator[None]:
    """
    Hold a place for one twin, empty at the beginning and at the end, whatever happens between.

    What a killed run has left is removed first. A signal to end becomes an orderly end.

    Raises:
        SimError: another process runs the same twin.
    """
    state = State(place.key, place.folder)
    with state.locked():
        before = {number: signal.signal(number, _ends) for number in GOING}
        try:
            clear(place)
            place.logs.mkdir(parents=True)
            yield
        finally:
            for number in GOING:
                signal.signal(number, signal.SIG_IGN)
            clear(place)
            place.folder.with_name(f"{place.folder.name}.lock").unlink(missing_ok=True)
            for number, handler in before.items():
                signal.signal(number, handler)
    with suppress(OSError):
        place.folder.parent.rmdir()


def _ends(number: int, frame: FrameType | None) -> None:
    """Turn any signal to end into the one that `^C` gives."""
    del number, frame
    raise KeyboardInterrupt


def clear(place: Place) -> None:
    """End every process of a twin, and remove its mounts, namespaces and files; a second call finds nothing."""
    groups = place.groups
    scratch = [f"{name.rpartition('-')[2]}.{pid}" for name in groups.names() for pid in groups.pids(name)]
    groups.stop_all()
    for each in scratch:
        shutil.rmtree(FRR_SCRATCH / each, ignore_errors=True)
    for mount in mounts_below(place.folder):
        run(["umount", "--lazy", mount])
    remove_namespaces(place.prefix)
    shutil.rmtree(place.folder, ignore_errors=True)


def is_clear(place: Place) -> bool:
    """Tell whether nothing of a twin is left."""
    return not (place.groups.names() or namespaces(place.prefix) or place.folder.exists())
