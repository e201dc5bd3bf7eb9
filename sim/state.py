"""
What is kept of a running site, and where: one folder a site, so that `sim down` finds everything after any crash.

Processes are known by a cgroup of their own, machines and namespaces by their names; no list in memory is needed.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coldaisle.files import write_whole
from sim.errors import SimError

SITE_MARK, HALL_MARK = "ca", "ch"
"""What the names of the namespaces of a site, and of a hall, begin with."""


def namespace_prefix(site: str, mark: str = SITE_MARK) -> str:
    """Return what the names of all network namespaces of a site start with."""
    return f"{mark}-{site}-"


@dataclass(frozen=True, slots=True)
class State:
    """The state folder of a site, and the places in it. `mark` is what the names of its namespaces begin with."""

    site: str
    folder: Path
    mark: str = SITE_MARK

    @property
    def logs(self) -> Path:
        """One log a process."""
        return self.folder / "logs"

    @property
    def pki(self) -> Path:
        """The site's certificate authority (`ca.crt`, `ca.key`), and the certificates that it signed."""
        return self.folder / "pki"

    @property
    def bmc_credentials(self) -> Path:
        """User and password of every BMC of the site, as YAML."""
        return self.folder / "secrets/bmc.yaml"

    @property
    def ssh_key(self) -> Path:
        """The private key that opens the hosts; the public one lies beside it."""
        return self.folder / "keys/id_ed25519"

    @property
    def evidence_key(self) -> Path:
        """The private key that signs evidence; the public one lies beside it."""
        return self.folder / "keys/evidence_ed25519"

    @property
    def machines(self) -> Path:
        """Below it, a folder a machine: disks, serial log, hardware record, layers of its root."""
        return self.folder / "machines"

    @property
    def bmcs(self) -> Path:
        """One file a BMC: what it remembers over its own restart."""
        return self.folder / "bmc"

    @property
    def faults(self) -> Path:
        """One file a device: the faults that are in force."""
        return self.folder / "faults"

    @property
    def switches(self) -> Path:
        """Below it, a folder a switch: its configuration and sockets."""
        return self.folder / "switches"

    def namespace(self, device: str) -> str:
        """Return the name of the network namespace of a device."""
        return f"{self.namespace_prefix}{device}"

    @property
    def namespace_prefix(self) -> str:
        """What the names of all namespaces of this site start with."""
        return namespace_prefix(self.site, self.mark)

    def make_folders(self) -> None:
        """Make the folders; secrets and keys are for their owner only."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in (self.logs, self.machines, self.bmcs, self.faults, self.switches):
            path.mkdir(exist_ok=True)
        for path in (self.pki, self.bmc_credentials.parent, self.ssh_key.parent):
            path.mkdir(mode=0o700, exist_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the site's lock; SimError names the process that has it. A killed process leaves no lock behind."""
        path = self.folder.with_name(f"{self.folder.name}.lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                lock.seek(0)
                have = f"process {lock.read().strip() or 'unknown'} holds {path}"
                fix = "wait until it ends, and run the command again"
                raise SimError(self.site, "the site is being started or stopped", have, fix) from error
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            yield


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object so that a reader sees the old or the new one, never a part."""
    write_whole(path, json.dumps(value, indent=2, sort_keys=True) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object, or an empty one when there is no file."""
    try:
        value: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    return value
