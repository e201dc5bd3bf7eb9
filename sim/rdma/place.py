"""Where the two guests run: namespaces, processes and a folder of their own, like a twin's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sim.processes import ProcessGroups
from sim.state import State
from sim.twin.place import Place

FOLDERS = Path("/var/lib/coldaisle-rdma")
"""On disk, since a root file system is served from there; the path is short, since sockets lie below it."""

PROVISIONER = "prov"
"""The device that serves network boot and is the deploy host too."""


@dataclass(frozen=True, slots=True)
class LabState(State):
    """The state of two machines of a site, apart from the site's own."""

    @property
    def namespace_prefix(self) -> str:
        """What the names of all namespaces of the two guests start with."""
        return f"cr-{self.site}_"


@dataclass(frozen=True, slots=True)
class Lab(Place):
    """The place of two guests; its second name is no fabric's, but that of what is proved."""

    fabric: str = "rdma"

    @property
    def prefix(self) -> str:
        """Return what the names of all its namespaces start with."""
        return self.state.namespace_prefix

    @property
    def folder(self) -> Path:
        """Return its folder: machines, keys, logs."""
        return FOLDERS / self.key

    @property
    def groups(self) -> ProcessGroups:
        """Return its processes."""
        return ProcessGroups(self.state.site)

    @property
    def state(self) -> LabState:
        """Return its folders and names in the form that the machinery of a site takes."""
        return LabState(self.key, self.folder)
