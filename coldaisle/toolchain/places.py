"""
Where the toolchain keeps its things.

The cache holds what can be made again (built tools), the state holds what belongs to this machine. Both follow the
XDG variables, so that a test or a second user never meets the first one's files.
"""

from __future__ import annotations

import os
from pathlib import Path


def project_root() -> Path:
    """Return the folder that holds `tools/go`: the checkout, or the package's own data in an installed wheel."""
    here = Path(__file__).resolve()
    checkout = here.parents[2]
    return checkout if (checkout / "tools" / "go").is_dir() else here.parents[1] / "data"


def cache_dir() -> Path:
    """Return the folder of what can be made again: `$XDG_CACHE_HOME/coldaisle`."""
    return _xdg("XDG_CACHE_HOME", ".cache")


def state_dir() -> Path:
    """Return the folder of what this machine must keep: `$XDG_STATE_HOME/coldaisle`."""
    return _xdg("XDG_STATE_HOME", ".local/state")


def venv_dir() -> Path:
    """Return the checkout's virtual environment."""
    return project_root() / ".venv"


def _xdg(variable: str, default: str) -> Path:
    base = os.environ.get(variable, "")
    return (Path(base) if base else Path.home() / default) / "coldaisle"
