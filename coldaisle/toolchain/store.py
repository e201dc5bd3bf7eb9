"""
The cache of built tools: `<cache>/tools/<key>/bin`.

A binary gets its name there only when it is whole (it is renamed into place) and has a stamp that says from which
pins it came. Only one builder works at a time; others wait on the same lock and then find its work done.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coldaisle.toolchain import pins
from coldaisle.toolchain.places import cache_dir

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Store:
    """One key's folder of the cache."""

    root: Path

    @property
    def bin(self) -> Path:
        """Folder of the executables."""
        return self.root / "bin"

    @property
    def share(self) -> Path:
        """Folder of data that came with a tool, such as KEDA's resource definitions."""
        return self.root / "share"

    @property
    def log(self) -> Path:
        """What the compiler said last."""
        return self.root / "build.log"

    def binary(self, wanted: pins.Tool) -> Path:
        """Return where a tool's executable is, or will be."""
        return self.bin / wanted.name

    def stamp(self, wanted: pins.Tool) -> Path:
        """Return the file that says from which pins a binary came."""
        return self.root / "stamps" / wanted.name

    def ready(self, wanted: pins.Tool) -> bool:
        """Return whether the tool is built, whole and of today's pins."""
        try:
            return self.stamp(wanted).read_text() == pins.digest(wanted) and os.access(self.binary(wanted), os.X_OK)
        except OSError:
            return False

    def accept(self, wanted: pins.Tool, built: Path) -> None:
        """Put a finished binary into place, then its stamp: a crash in between leaves it unused."""
        self.bin.mkdir(parents=True, exist_ok=True)
        self.stamp(wanted).parent.mkdir(exist_ok=True)
        built.replace(self.binary(wanted))
        written = self.stamp(wanted).with_suffix(".new")
        written.write_text(pins.digest(wanted))
        written.replace(self.stamp(wanted))

    def reuse(self, wanted: pins.Tool) -> bool:
        """Link a binary that another key's folder has from the same pins; return whether there was one."""
        for sibling in sorted(self.root.parent.glob("*/bin")):
            other = Store(sibling.parent)
            if other != self and other.ready(wanted):
                linked = self.root / f"{wanted.name}.linked"
                linked.unlink(missing_ok=True)
                linked.hardlink_to(other.binary(wanted))
                self.accept(wanted, linked)
                return True
        return False

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the builder's lock; wait while another process has it. The kernel frees it when a builder dies."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root.parent / f"{self.root.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def note(self, progress: dict[str, object]) -> None:
        """Say what is being built, for those who wait."""
        written = self.root / "progress.new"
        written.write_text(json.dumps(progress))
        written.replace(self.root / "progress.json")

    def noted(self) -> dict[str, object]:
        """Return what `note` said last; empty when nothing was said."""
        try:
            said = json.loads((self.root / "progress.json").read_text())
        except (OSError, ValueError):
            return {}
        return said if isinstance(said, dict) else {}


def store() -> Store:
    """Return the folder of today's pins."""
    return Store(cache_dir() / "tools" / pins.key())
