"""
What is on this machine, what is missing, and what each missing thing costs.

`coldaisle doctor` prints it. Every line says what cannot be done without the thing and how to get it, so that nobody
has to find out by a failed run.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import asdict, dataclass
from typing import Literal

from coldaisle.toolchain import debian, kernel, lookup, pins, venv
from coldaisle.toolchain.environment import pulumi_home
from coldaisle.toolchain.errors import LACKING, SetupError
from coldaisle.toolchain.golang import find_go
from coldaisle.toolchain.places import cache_dir, venv_dir
from coldaisle.toolchain.progress import expected_s, minutes

SCHEMA_VERSION = "1"
MEMORY_GIB = 8.0
"""The simulated site takes up to 6 GiB; Go's linker takes 2 while the tools are built."""

DISK_BUILD_GIB = 14.0
"""Go's module and build caches and the binaries after a build from nothing, as measured, and some to spare."""

DISK_GIB = 4.0
"""Images, state and logs of the simulated site."""

_GIB = 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked for."""

    area: Literal["python", "engine", "tools", "packages", "kernel", "machine"]
    name: str
    status: Literal["ok", "missing", "will be built", "will be fetched"]
    have: str
    cost: str = ""
    """What cannot be done without it, or how long it takes to make."""
    fix: str = ""


def examine() -> list[Check]:
    """Return every check, none skipped, in the order of printing."""
    found = [lookup.find(each) for each in pins.TOOLS]
    to_build = [each.tool for each in found if not each.usable]
    return [
        *_python(),
        *_engine(to_build),
        *(_tool(each) for each in found),
        *_packages(),
        *_kernel(),
        *_machine(to_build),
    ]


def exit_code(checks: list[Check]) -> int:
    """Return 4 when something is missing that `make up` cannot get by itself on this machine, else 0."""
    return LACKING if any(each.status == "missing" for each in checks) else 0


def to_json(checks: list[Check]) -> dict[str, object]:
    """Return the report as plain data."""
    return {"schema_version": SCHEMA_VERSION, "ok": exit_code(checks) == 0, "checks": [asdict(each) for each in checks]}


def to_text(checks: list[Check]) -> str:
    """Return the report for a terminal: a line a thing, and under what is missing its cost and fix."""
    lines = []
    area = ""
    for each in checks:
        if each.area != area:
            area = each.area
            lines.append(f"{area}:")
        mark = {"ok": "ok", "missing": "MISSING"}.get(each.status, each.status)
        lines.append(f"  {mark:<15} {each.name:<28} {each.have}".rstrip())
        if each.status != "ok":
            lines += [
                f"  {'':<15} {label} {text}" for label, text in (("cost:", each.cost), ("fix: ", each.fix)) if text
            ]
    bad = sum(each.status == "missing" for each in checks)
    later = sum(each.status.startswith("will") for each in checks)
    lines.append(f"{len(checks)} checks: {bad} missing, {later} to be made by `make up`")
    return "\n".join(lines)


def _python() -> list[Check]:
    floor = ".".join(str(part) for part in venv.PYTHON_FLOOR)
    enough = sys.version_info[:2] >= venv.PYTHON_FLOOR
    version = f"{sys.version.split()[0]} ({sys.executable})"
    python = Check(
        area="python",
        name=f"Python >= {floor}",
        status="ok" if enough else "missing",
        have=version,
        cost="nothing runs",
        fix=f"install python{floor}, then make up PYTHON=python{floor}",
    )
    made = venv.ready()
    packages = Check(
        area="python",
        name="locked packages",
        status="ok" if made else "will be fetched",
        have=str(venv_dir()) if made else "not made from today's requirements.lock",
        cost="previews, checks and playbooks; about 2 min to fetch",
        fix="make up",
    )
    return [python, packages]


def _engine(to_build: list[pins.Tool]) -> list[Check]:
    official = lookup.official_engine()
    host = str(official.with_name(pins.LANGUAGE_HOST)) if official else "ours (tools/langhost); no official one on PATH"
    checks = [Check(area="engine", name="Python language host", status="ok", have=host)]
    try:
        go = find_go()
    except SetupError as error:
        status: Literal["ok", "missing"] = "missing" if to_build else "ok"
        have = error.have if to_build else f"{error.have}; nothing has to be built"
        names = ", ".join(each.name for each in to_build)
        return [*checks, Check(area="engine", name="Go", status=status, have=have, cost=f"no {names}", fix=error.fix)]
    return [*checks, Check(area="engine", name="Go", status="ok", have=f"{go.version} ({go.path})")]


def _tool(found: lookup.Found) -> Check:
    seen = f"; passed over: {'; '.join(found.rejected)}" if found.rejected else ""
    if found.usable:
        where = found.path or pulumi_home() if found.origin != "engine" else "the engine fetches it"
        have = f"{found.version} ({found.origin}: {where}){seen}"
        return Check(area="tools", name=found.tool.name, status="ok", have=have)
    return Check(
        area="tools",
        name=found.tool.name,
        status="will be built",
        have=f"not found{seen}",
        cost=f"no {found.tool.purpose}; about {minutes(expected_s([found.tool]))} to build",
        fix=f"make up builds {found.tool.version} from tools/go/{found.tool.module}, or put it on PATH",
    )


def _packages() -> list[Check]:
    absent = debian.missing()
    installable = shutil.which("apt-get") is not None and os.geteuid() == 0
    checks = [
        Check(
            area="packages",
            name=name,
            status="will be fetched" if installable else "missing",
            have="not installed",
            cost=f"no {debian.PACKAGES[name][1]}",
            fix="make up" if installable else f"as root: apt-get install --no-install-recommends {name}",
        )
        for name in absent
    ]
    present = f"{len(debian.PACKAGES) - len(absent)} of {len(debian.PACKAGES)} installed"
    return [Check(area="packages", name="Debian packages", status="ok", have=present), *checks]


def _kernel() -> list[Check]:
    return [
        Check(
            area="kernel",
            name=each.name,
            status="ok" if (there := each.present()) else "missing",
            have="" if there else "not there",
            cost=f"no {each.needed_for}",
            fix=each.fix,
        )
        for each in kernel.FEATURES
    ]


def _machine(to_build: list[pins.Tool]) -> list[Check]:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _GIB
    existing = next(path for path in (cache_dir(), *cache_dir().parents) if path.exists())
    free = shutil.disk_usage(existing).free / _GIB
    need = DISK_GIB + (DISK_BUILD_GIB if to_build else 0.0)
    cost = "tools cannot be built, or images cannot be made" if to_build else "images cannot be made"
    root = os.geteuid() == 0
    return [
        _amount("memory", memory, MEMORY_GIB, "the simulated site does not fit", "use a machine with more memory"),
        _amount("free disk", free, need, cost, f"free space at {existing}, or set XDG_CACHE_HOME and GOCACHE"),
        Check(
            area="machine",
            name="root",
            status="ok" if root else "missing",
            have=f"uid {os.geteuid()}",
            cost="no simulated site; checks, plans and previews work",
            fix="run make up as root, in a container or a virtual machine if you like",
        ),
    ]


def _amount(name: str, have_gib: float, need_gib: float, cost: str, fix: str) -> Check:
    enough = have_gib >= need_gib
    have = f"{have_gib:.0f} GiB, {need_gib:.0f} needed"
    return Check(area="machine", name=name, status="ok" if enough else "missing", have=have, cost=cost, fix=fix)
