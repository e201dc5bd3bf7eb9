"""
The environment in which Pulumi runs, for make targets, for `coldaisle drift` and for a user's own calls alike.

What the user has set is left as it is. The stacks of this repository hold no secrets (a test of the provider holds
that), so their passphrase is the empty one: the salt in stacks/Pulumi.<stack>.yaml then fits on every machine, and
no command rewrites that file. A real site sets PULUMI_CONFIG_PASSPHRASE_FILE, or a backend with its own key.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from coldaisle.toolchain import lookup, pins
from coldaisle.toolchain.places import project_root, state_dir, venv_dir

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_PASSPHRASES = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")
_BACKEND = "PULUMI_BACKEND_URL"


def settings(stack: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the variables to set for one stack, beside what is given already. Makes the state's folder."""
    wanted = {"PATH": path(given), "PULUMI_SKIP_UPDATE_CHECK": "true"}
    if not given.get(_BACKEND):
        folder = state_dir() / stack / "pulumi"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        wanted[_BACKEND] = folder.as_uri()
    if not any(name in given for name in _PASSPHRASES):
        wanted[_PASSPHRASES[0]] = ""
    if lookup.official_engine() is None:
        wanted["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] = "true"
        if not given.get("PULUMI_HOME"):
            wanted["PULUMI_HOME"] = str(pulumi_home())
    return {name: value for name, value in wanted.items() if given.get(name) != value}


def environment(stack: str) -> dict[str, str]:
    """Return the whole environment for a command on one stack."""
    return {**os.environ, **settings(stack, os.environ)}


def path(given: Mapping[str, str]) -> str:
    """Return PATH with the chosen tools and the virtual environment first, and our language host as the last resort."""
    first = [str(lookup.links_dir()), str(venv_dir() / "bin")]
    last = [] if lookup.official_engine() else [str(project_root() / "tools" / "langhost")]
    between = [folder for folder in given.get("PATH", os.defpath).split(os.pathsep) if folder not in first + last]
    return os.pathsep.join(first + between + last)


def pulumi_home() -> Path:
    """Return the engine's own folder, used where the engine is ours: a user's ~/.pulumi stays untouched."""
    return state_dir() / "pulumi-home"


def install_plugin(found: lookup.Found) -> None:
    """Put the Kubernetes provider where our engine looks for it; from PATH it would warn at every run."""
    if found.origin != "cache" or found.path is None or lookup.official_engine() is not None:
        return
    folder = pulumi_home() / "plugins" / f"resource-kubernetes-v{pins.PULUMI_KUBERNETES}"
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f".{found.tool.name}.{os.getpid()}"
    fresh.symlink_to(found.path)
    fresh.replace(folder / found.tool.name)
