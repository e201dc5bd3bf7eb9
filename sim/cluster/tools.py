"""Which built programs the control plane runs: those that the toolchain chose, then PATH and KUBEBUILDER_ASSETS."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from coldaisle.toolchain.builder import keda_crds
from coldaisle.toolchain.lookup import links_dir
from coldaisle.toolchain.store import store
from sim.errors import SimError
from sim.shell import SYSTEM_PATH


def find_tool(name: str) -> str:
    """Return the path of a program. SimError says how to get it when it is missing."""
    folders = [str(links_dir()), os.environ.get("PATH", ""), os.environ.get("KUBEBUILDER_ASSETS", ""), SYSTEM_PATH]
    found = shutil.which(name, path=os.pathsep.join(folder for folder in folders if folder))
    if found is None:
        have = "it is neither built nor on PATH nor in KUBEBUILDER_ASSETS"
        raise SimError(
            name, "the simulated cluster runs this program", have, "run `coldaisle doctor` for how to get it"
        )
    return found


def keda_definitions() -> Path | None:
    """Return the folder of KEDA's custom resource definitions, or None when KEDA was not built here."""
    built = keda_crds(store())
    if built.is_dir():
        return built
    modules = Path(os.environ.get("GOMODCACHE") or Path.home() / "go" / "pkg" / "mod")
    newest = sorted((modules / "github.com" / "kedacore" / "keda").glob("v2@*/config/crd/bases"))
    return newest[-1] if newest else None
