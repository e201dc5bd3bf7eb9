"""Where a rehearsal runs, and how nothing of it stays: its namespace, cgroups and folder all have its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sim.processes import ProcessGroups
from sim.twin.place import Place

RUN = Path("/var/tmp/coldaisle-install")  # noqa: S108 - a disk of gigabytes: no memory holds it; the folder is root's
INSIDE = "site"
"""The one namespace of a rehearsal: the provisioner's, with the machine's port."""


@dataclass(frozen=True, slots=True)
class Lab(Place):
    """A rehearsal's name, folder and processes; `fabric` is the node. It is held and cleared as a twin is."""

    @property
    def prefix(self) -> str:
        """Return what the names of its namespaces start with."""
        return f"ci-{self.key}_"

    @property
    def folder(self) -> Path:
        """Return its folder: the provisioner's files, the machine's disk, and logs."""
        return RUN / self.key

    @property
    def groups(self) -> ProcessGroups:
        """Return its processes."""
        return ProcessGroups(f"install-{self.key}")

    @property
    def inside(self) -> str:
        """Return the name of its namespace."""
        return self.namespace(INSIDE)

    @property
    def served(self) -> Path:
        """Return the root below which the provisioner's files lie, by their paths there."""
        return self.folder / "provisioner"

    @property
    def disk(self) -> Path:
        """Return the machine's disk."""
        return self.folder / "disk.img"

    @property
    def key_file(self) -> Path:
        """Return the SSH key that opens the installed machine; the public one lies beside it."""
        return self.folder / "id_ed25519"
