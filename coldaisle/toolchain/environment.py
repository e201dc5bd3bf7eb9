"""
The environment in which Pulumi runs, for make targets, for `coldaisle drift` and for a user's own calls alike.

What the user has set is left as it is. The stacks of this repository hold no secrets (a test of the provider holds
that), so their passphrase is the empty one: the salt in stacks/Pulumi.<stack>.yaml then fits on every machine, and
no command rewrites that file. A real site sets PULUMI_CONFIG_PASSPHRASE_FILE, or a backend with its own key.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from coldaisle.toolchain import lookup, pins
from coldaisle.toolchain.places import project_root, state_dir, venv_dir

if TYPE_CHECKING:
    from collections.abc import Mapping

_PASSPHRASES = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")
_BACKEND = "PULUMI_BACKEND_URL"
_HOST = "COLDAISLE_LANGUAGE_HOST"

_HOST_SHIM = f"""#!/bin/sh
# The engine looks for its language hosts beside itself; all checkouts share it, and the host is a checkout's own.
exec "${{{_HOST}:?run pulumi in the environment that 'coldaisle env STACK' prints}}" "$@"
"""


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
        wanted[_HOST] = str(language_host())
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
    last = [] if lookup.official_engine() or _engine_is_built() else [str(language_host().parent)]
    between = [folder for folder in given.get("PATH", os.defpath).split(os.pathsep) if folder not in first + last]
    return os.pathsep.join(first + between + last)


def pulumi_home() -> Path:
    """Return the engine's own folder, used where the engine is ours: a user's ~/.pulumi stays untouched."""
    return state_dir() / "pulumi-home"


def language_host() -> Path:
    """Return this checkout's Python language host."""
    return project_root() / "tools" / "langhost" / pins.LANGUAGE_HOST


def complete_engine(found: list[lookup.Found]) -> None:
    """
    Put beside an engine of ours what it looks for: the language host and the Kubernetes provider.

    Both would also be found on PATH, but then the engine warns of them at every run.
    """
    built = {each.tool.name: each.path for each in found if each.origin == "cache" and each.path is not None}
    if engine := built.get("pulumi"):
        _write_program(engine.with_name(pins.LANGUAGE_HOST), _HOST_SHIM)
    if (provider := built.get(lookup.PROVIDER)) and lookup.official_engine() is None:
        home = Path(os.environ.get("PULUMI_HOME") or pulumi_home())
        folder = home / "plugins" / f"resource-kubernetes-v{pins.PULUMI_KUBERNETES}"
        folder.mkdir(parents=True, exist_ok=True)
        lookup.point(folder / lookup.PROVIDER, provider)


def _engine_is_built() -> bool:
    """Return whether the chosen engine is one of ours, which has its language host beside it."""
    return (lookup.links_dir() / "pulumi").resolve().with_name(pins.LANGUAGE_HOST).exists()


def _write_program(target: Path, text: str) -> None:
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    fresh.write_text(text)
    fresh.chmod(0o755)
    fresh.replace(target)
