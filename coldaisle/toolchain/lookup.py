"""
Which executable of each tool is used: the first good enough one on PATH, in KUBEBUILDER_ASSETS, or in our cache.

The choice is written down as links in one folder, so that a shell, Ansible and the engine all run the same ones.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from coldaisle.toolchain import pins, versions
from coldaisle.toolchain.places import cache_dir, project_root, state_dir
from coldaisle.toolchain.store import Store, store

PROVIDER = "pulumi-resource-kubernetes"
"""The one tool that is no command: the engine finds it in its plugin folder."""

Origin = Literal["PATH", "KUBEBUILDER_ASSETS", "cache", "plugins", "engine", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What is there of one tool."""

    tool: pins.Tool
    origin: Origin
    path: Path | None
    version: str | None
    rejected: tuple[str, ...] = ()
    """Candidates that were seen and not taken, each with its reason."""

    @property
    def usable(self) -> bool:
        """Whether the tool can be used now."""
        return self.origin != "missing"


def find(wanted: pins.Tool, *, in_store: Store | None = None) -> Found:
    """
    Return the executable to use for one tool.

    PATH comes first, then KUBEBUILDER_ASSETS, then the cache. A candidate that is too old, or does not say its
    version, is passed over and named in `rejected`.
    """
    cached = in_store or store()
    rejected: list[str] = []
    for origin, path in _candidates(wanted):
        version = versions.ask(path, wanted.version_command)
        if version is not None and versions.at_least(version, wanted.floor or wanted.version):
            return Found(tool=wanted, origin=origin, path=path, version=version, rejected=tuple(rejected))
        rejected.append(f"{path} is {version or 'of no readable version'}, {wanted.floor} is the oldest that will do")
    if wanted.name == PROVIDER and (plugin := _plugin(wanted)) is not None:
        return plugin
    if cached.ready(wanted):
        path, version = cached.binary(wanted), wanted.version
        return Found(tool=wanted, origin="cache", path=path, version=version, rejected=tuple(rejected))
    return Found(tool=wanted, origin="missing", path=None, version=None, rejected=tuple(rejected))


def official_engine() -> Path | None:
    """Return the engine on PATH when it came with the official Python language host; None otherwise."""
    path = _outside_path()
    pulumi, host = shutil.which("pulumi", path=path), shutil.which(pins.LANGUAGE_HOST, path=path)
    return Path(pulumi) if pulumi and host else None


def links_dir() -> Path:
    """Return the folder of links to the chosen executables; it goes first on PATH."""
    return state_dir() / "tools" / pins.key() / "bin"


def link(found: list[Found]) -> Path:
    """Make the folder of links say exactly what was chosen, and return it."""
    folder = links_dir()
    folder.mkdir(parents=True, exist_ok=True)
    chosen = {each.tool.name: each.path for each in found if each.path is not None and each.tool.name != PROVIDER}
    for name, target in chosen.items():
        point(folder / name, target)
    for path in folder.iterdir():
        if path.name not in chosen and not path.name.startswith("."):
            path.unlink(missing_ok=True)
    return folder


def point(link: Path, target: Path) -> None:
    """Make a symbolic link, or turn one, without a moment in which it is not there."""
    fresh = link.with_name(f".{link.name}.{os.getpid()}")
    fresh.symlink_to(target)
    fresh.replace(link)


def _candidates(wanted: pins.Tool) -> list[tuple[Origin, Path]]:
    if wanted.floor is None:
        return []
    on_path = shutil.which(wanted.name, path=_outside_path())
    assets = shutil.which(wanted.name, path=os.environ.get("KUBEBUILDER_ASSETS") or os.devnull)
    return [(origin, Path(path)) for origin, path in (("PATH", on_path), ("KUBEBUILDER_ASSETS", assets)) if path]  # type: ignore[misc]


def _plugin(wanted: pins.Tool) -> Found | None:
    """Return the Kubernetes provider that the user's engine already has, or will fetch for itself."""
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    path = home / "plugins" / f"resource-kubernetes-v{wanted.version}" / wanted.name
    if os.access(path, os.X_OK):
        return Found(tool=wanted, origin="plugins", path=path, version=wanted.version)
    if official_engine() is not None and not os.environ.get("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"):
        return Found(tool=wanted, origin="engine", path=None, version=wanted.version)
    return None


def _outside_path() -> str:
    """Return PATH without our own folders: a second run must not take the first one's links for the user's tools."""
    ours = (cache_dir(), state_dir(), project_root() / "tools")
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    kept = [folder for folder in folders if folder and not any(Path(folder).is_relative_to(own) for own in ours)]
    return os.pathsep.join(kept) or os.devnull
