"""
Four guests from power-on to Ready at once, in the simulated site with four whole machines instead of two.

The site is a copy of inventory/sim whose light hosts are guests. It takes the simulated site's place while it is
measured, and is taken down afterwards.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import yaml

from coldaisle.check import open_site
from coldaisle.toolchain import site
from coldaisle.toolchain.environment import environment
from tests.bench.bench_node_ready import brought_up
from tests.bench.meter import ROOT, NotMeasuredError, cost
from tests.e2e.terminal import SITE, Terminal

GUESTS = {
    "r[01-02]-n01": {"rack": "r[01-02]", "rack_unit": 10},
    "r[01-02]-n02": {"rack": "r[01-02]", "rack_unit": 12},
}


def figures() -> dict[str, float]:
    """Return the seconds of the slowest of four guests that were turned on together."""
    if site.is_up():
        raise NotMeasuredError("the simulated site is up, whose place this one takes: make down first")
    with tempfile.TemporaryDirectory() as parent:
        folder, settings = Path(parent, SITE), Path(parent, "Pulumi.yaml")
        _write(folder, settings)
        try:
            return {"node_ready_4_s": _measured(folder, settings)}
        finally:
            site.down()


def _measured(folder: Path, settings: Path) -> float:
    terminal = Terminal(open_site(folder).plan)
    cost(["coldaisle", "sim", "up", str(folder)], environment(SITE))
    site.select(SITE)
    terminal.up("--config-file", str(settings))
    names = [node.name for node in terminal.plan.nodes]
    return brought_up(terminal, names, "--config-file", str(settings))


def _write(folder: Path, settings: Path) -> None:
    """Write the site of four guests, and the stack's settings that name it."""
    shutil.copytree(ROOT / "inventory" / "sim", folder)
    pools = folder / "node_pools.yaml"
    guests = yaml.safe_load(pools.read_text())["node_pools"]["guests"]
    pools.write_text(yaml.safe_dump({"node_pools": {"guests": {**guests, "nodes": GUESTS}}}))
    stack = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{SITE}.yaml").read_text())
    stack["config"]["coldaisle:site"] = str(folder)
    settings.write_text(yaml.safe_dump(stack))
