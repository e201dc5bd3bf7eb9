"""Which kernel modules go where: a chosen few with all that they depend on, instead of Debian's 390 MB."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sim.errors import SimError
from sim.shell import run


def read_dependencies(modules: Path) -> Mapping[str, Sequence[str]]:
    """Return what each module file needs, in `modules.dep` order (the last one loads first), by file path."""
    lines = (modules / "modules.dep").read_text().splitlines()
    return {name: needs.split() for name, _, needs in (line.partition(":") for line in lines)}


def load_order(modules: Path, names: Iterable[str]) -> tuple[Path, ...]:
    """
    Return the files of modules and of all that they need, each after what it needs.

    A module that is built into the kernel has no file and is passed over; an unknown one raises SimError.
    """
    dependencies = read_dependencies(modules)
    by_name = {_plain(path): path for path in dependencies}
    built_in = {_plain(line) for line in (modules / "modules.builtin").read_text().splitlines()}
    ordered: dict[str, None] = {}
    for name in names:
        path = by_name.get(_plain(name))
        if path is None and _plain(name) not in built_in:
            raise SimError("image", f"the kernel has no module {name}", str(modules), "correct the module list")
        for file in [*reversed(dependencies[path]), path] if path else []:
            ordered[file] = None
    return tuple(modules / file for file in ordered)


def _plain(path: str) -> str:
    """Return a module's name as the kernel spells it: no folder, no suffix, underscores."""
    return path.rsplit("/", 1)[-1].split(".ko", maxsplit=1)[0].replace("-", "_")


def copy_chosen(root: Path, modules: Path, target: Path, names: Iterable[str]) -> None:
    """Copy chosen modules with their dependencies to `target` (`lib/modules/VERSION` of a root) and index them."""
    for path in load_order(modules, names):
        place = target / path.relative_to(modules)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)
    for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
        shutil.copy2(modules / name, target / name)
    index_modules(root, target)


def index_modules(root: Path, modules: Path) -> None:
    """
    Write the indexes of a module folder that ends with `lib/modules/VERSION`.

    depmod comes from the Debian root, and is run by the root's own loader, so that the machine needs no kmod.
    """
    libraries = root / "usr/lib/x86_64-linux-gnu"
    loader: list[str | Path] = [libraries / "ld-linux-x86-64.so.2", "--library-path", libraries, "--argv0", "depmod"]
    run([*loader, root / "usr/bin/kmod", "--basedir", modules.parents[2], modules.name])
