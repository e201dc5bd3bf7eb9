"""Which file systems are mounted where, so that nothing is deleted through a mount and nothing stays mounted."""

from __future__ import annotations

from pathlib import Path


def mount_points() -> tuple[Path, ...]:
    """Return every mount point of this machine, in the order of mounting."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return tuple(Path(line.split()[4].encode().decode("unicode_escape")) for line in lines)


def is_mounted(path: Path) -> bool:
    """Tell whether something is mounted at `path`."""
    return path in mount_points()


def mounts_below(folder: Path) -> list[Path]:
    """Return the mount points below a folder, innermost first."""
    found = (point for point in mount_points() if folder in point.parents)
    return sorted(found, key=lambda point: -len(point.parts))
