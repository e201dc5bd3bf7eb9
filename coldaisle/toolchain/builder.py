"""
Building the tools that are not on the machine, in the order in which the next step needs them.

A build can be stopped at any moment and goes on where it was: Go keeps what it compiled, and a finished tool is
never built again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from typing import TYPE_CHECKING

from coldaisle.toolchain import pins
from coldaisle.toolchain.golang import Go, explain, find_go

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from coldaisle.toolchain.store import Store

PULUMI_PLUGIN = "pulumi-resource-kubernetes"


def build(wanted: Iterable[pins.Tool], into: Store) -> list[str]:
    """
    Build what is not ready yet, one tool after the other, and return the names of what was built.

    Raises:
        SetupError: no Go, a full disk, or a failed build; the tools that were finished before it stay.
    """
    tools = list(wanted)
    if all(_complete(each, into) for each in tools):
        return []
    built = []
    with into.locked(), _scratch(into) as scratch:
        go = None
        for each in tools:
            if _complete(each, into) or into.reuse(each):
                _complete_data(each, into, go)
                continue
            go = go or find_go()
            _build_one(each, into, go, scratch)
            _complete_data(each, into, go)
            built.append(each.name)
    return built


def _build_one(wanted: pins.Tool, into: Store, go: Go, scratch: Path) -> None:
    into.note({"tool": wanted.name, "since": time.time(), "pid": os.getpid()})
    output = scratch / wanted.name
    flags = f"-s -w {wanted.stamp}".strip()
    arguments = ["build", "-ldflags", flags, "-o", str(output), wanted.package]
    go.run(wanted.module, arguments, log=into.log)
    try:
        into.accept(wanted, output)
    except OSError as error:
        raise explain(wanted.module, arguments, str(error), into.log) from error


def _complete(wanted: pins.Tool, into: Store) -> bool:
    return into.ready(wanted) and (wanted.module != "keda" or keda_crds(into).is_dir())


def _complete_data(wanted: pins.Tool, into: Store, go: Go | None) -> None:
    """Copy what a tool needs beside its binary: KEDA's resource definitions lie in its module, not in its binary."""
    target = keda_crds(into)
    if wanted.module != "keda" or target.is_dir():
        return
    module = wanted.package.split("/cmd/", maxsplit=1)[0]
    folder = (go or find_go()).run(wanted.module, ["list", "-m", "-f", "{{.Dir}}", module]).strip()
    fresh = target.with_name(f"crds.{os.getpid()}")
    shutil.copytree(f"{folder}/config/crd/bases", fresh, copy_function=shutil.copyfile)
    fresh.chmod(0o755)
    fresh.replace(target)


def keda_crds(of: Store) -> Path:
    """Return the folder of KEDA's resource definitions in a store."""
    return of.share / "keda" / "crds"


@contextlib.contextmanager
def _scratch(into: Store) -> Iterator[Path]:
    """Give a folder on the cache's own file system, so that a finished binary can be renamed into place."""
    folder = into.root / f"building-{os.getpid()}"
    for left_over in into.root.glob("building-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        (into.root / "progress.json").unlink(missing_ok=True)
