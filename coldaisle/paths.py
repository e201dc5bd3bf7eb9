"""Where files lie that do not belong to a site's folder: state, cache, and what the package brings along."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = "coldaisle"


def _base(variable: str, default: str) -> Path:
    value = os.environ.get(variable)
    return Path(value) if value else Path.home() / default


def state_dir(site: str) -> Path:
    """Return the folder of a site's keys, secrets and process files. It need not exist."""
    return _base("XDG_STATE_HOME", ".local/state") / PROJECT / site


def cache_dir() -> Path:
    """Return the folder of what can be made again: tools, images. It need not exist."""
    return _base("XDG_CACHE_HOME", ".cache") / PROJECT


def expand_home(path: str) -> Path:
    """Return a path of a spec; it may start with `~`."""
    return Path(path).expanduser()


def packaged(name: str) -> Path:
    """
    Return a folder that comes with the package: `inventory/catalog`, `playbooks`, `templates`.

    A wheel carries it inside of the package, under `data`; a checkout has it at its root.
    """
    package = Path(__file__).parent
    inside = package / "data" / name
    return inside if inside.is_dir() else package.parent / name


def shown(path: Path) -> str:
    """Return a path as messages print it: relative to the working directory where it lies below."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
