"""
The figures of `make bench`, each a small function; a file `bench_*.py` beside this one adds its function `figures`.

A figure that needs the simulated site says so when the site is not up, and the one that starts it says so when it is:
nobody's running site is taken down for a measurement.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from coldaisle.toolchain import site
from coldaisle.toolchain.environment import environment
from tests.bench import ladder, large_site
from tests.bench.meter import Cost, NotMeasuredError, cost

if TYPE_CHECKING:
    from collections.abc import Callable

Figures = dict[str, float]

IN_PROCESS = """
import json, resource, sys, time
from pathlib import Path
from coldaisle.check import open_site
started = time.process_time()
open_site(Path(sys.argv[1]))
used = time.process_time() - started
print(json.dumps([used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
"""Loads, plans and checks a site in a fresh process; imports are not in the figure."""

PREVIEW = ("pulumi", "preview", "--non-interactive", "--stack")
NO_CHANGES = "--expect-no-changes"


def plan_h100_pod() -> Figures:
    """Load, plan and check of 127 nodes."""
    used, largest = _open_site(Path("inventory", "h100-pod"))
    return {"plan_h100_pod_cpu_s": used, "plan_h100_pod_mib": largest}


def plan_16384() -> Figures:
    """Load, plan and check of 2,048 nodes, 16,384 GPUs, four fabrics of three tiers."""
    return _large_site("plan_16384", large_site.UNITS)


def plan_65536() -> Figures:
    """Load, plan and check of four times as much: 8,192 nodes, all that three tiers of 64 ports carry."""
    return _large_site("plan_65536", large_site.UNITS_OF_65536_GPUS)


def _large_site(name: str, units: int) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        large_site.write(Path(folder), units)
        used, largest = _open_site(Path(folder))
    return {f"{name}_cpu_s": used, f"{name}_mib": largest}


def preview_h100_pod() -> Figures:
    """First preview of the stack h100-pod, from an empty state."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {**environment("h100-pod"), "PULUMI_BACKEND_URL": Path(folder).as_uri()}
        cost(["pulumi", "stack", "init", "h100-pod"], settings)
        return _both("preview_h100_pod", cost([*PREVIEW, "h100-pod"], settings))


def up_sim() -> Figures:
    """Start of the simulated site, and `pulumi up` on it; the site is left up for the figures that follow."""
    if site.is_up():
        raise NotMeasuredError("the simulated site is up already: make down, then make bench BENCH=up_sim")
    started = cost([_coldaisle(), "sim", "up", "sim"], environment("sim"))
    site.select("sim")
    up = cost(site.UP, environment("sim"))
    return {**_both("start_sim", started), **_both("up_sim", up)}


def noop_up_sim() -> Figures:
    """`pulumi up` that finds nothing to do."""
    _need_site()
    command = [*site.UP, NO_CHANGES]
    return _both("noop_up_sim", cost(command, environment("sim")))


def preview_refresh_sim() -> Figures:
    """Preview that reads every host and the cluster: what drift costs."""
    _need_site()
    command = [*PREVIEW, "sim", "--refresh", NO_CHANGES]
    return _both("preview_refresh_sim", cost(command, environment("sim")))


def sim_memory() -> Figures:
    """Memory of all processes of the simulated site, what they share counted once."""
    said = json.loads(_answer([_coldaisle(), "sim", "status", "sim", "--json"], allowed=(0, 4)))
    if not said["is_up"]:
        raise NotMeasuredError("the simulated site is not up: make up")
    return {"sim_memory_mib": said["memory_bytes"] / 2**20}


FIGURES: dict[str, Callable[[], Figures]] = {
    each.__name__: each
    for each in (
        plan_h100_pod,
        plan_16384,
        plan_65536,
        preview_h100_pod,
        up_sim,
        noop_up_sim,
        preview_refresh_sim,
        sim_memory,
    )
}


def registry() -> dict[str, Callable[[], Figures]]:
    """Return every figure by its name: those above, then those of the files beside this one."""
    files = sorted(Path(__file__).parent.glob("bench_*.py"))
    more = {path.stem.removeprefix("bench_"): import_module(f"tests.bench.{path.stem}").figures for path in files}
    return FIGURES | ladder.FIGURES | more


ONLY_BY_NAME = frozenset({"drift_scan_1000", "health_1000", "ladder_1000", "ladder_4500", "ladder_sweep"})
"""Figures that take hours, or gigabytes of memory: a run of all figures leaves them out."""


def _open_site(folder: Path) -> tuple[float, float]:
    used, largest = json.loads(_answer([sys.executable, "-c", IN_PROCESS, str(folder)]))
    return used, largest


def _answer(command: list[str], allowed: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(
        command, cwd=large_site.ROOT, env=environment("sim"), capture_output=True, text=True, check=False
    )
    if done.returncode not in allowed:
        raise NotMeasuredError(f"`{' '.join(command[:4])}` exited {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def _both(name: str, measured: Cost) -> Figures:
    return {f"{name}_cpu_s": measured.cpu_s, f"{name}_s": measured.wall_s}


def _need_site() -> None:
    if not site.is_up():
        raise NotMeasuredError("the simulated site is not up: make up")


def _coldaisle() -> str:
    return str(Path(sys.executable).with_name("coldaisle"))
