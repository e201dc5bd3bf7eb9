"""The figures' measuring and their registry, without measuring anything large."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from coldaisle.check import open_site
from coldaisle.toolchain.places import project_root
from tests.bench import figures, large_site
from tests.bench.meter import NotMeasuredError, cost

if TYPE_CHECKING:
    from pathlib import Path

    from tests.setup.conftest import Machine

PROMISED = (
    "plan_h100_pod",
    "preview_h100_pod",
    "node_ready",
    "up_sim",
    "noop_up_sim",
    "preview_refresh_sim",
    "sim_memory",
)


def test_cpu_seconds_include_children() -> None:
    """A command that only waits for a busy child costs what the child cost."""
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
    measured = cost([sys.executable, "-c", parent], os.environ)
    assert measured.cpu_s >= 0.3
    assert measured.wall_s >= 0.25


def test_a_failed_command_is_not_a_figure() -> None:
    """A command that fails quickly must not look like a fast one."""
    with pytest.raises(NotMeasuredError, match=r"exited 3: broken"):
        cost([sys.executable, "-c", "import sys; print('broken'); sys.exit(3)"], os.environ)


def test_the_promised_figures_are_there() -> None:
    """Figures that later checks call by name are in the registry, and so are the files beside it."""
    known = figures.registry()
    assert known.keys() >= set(PROMISED)
    assert "noop_preview_5000_nodes" in known


@pytest.mark.parametrize("name", ["node_ready", "noop_up_sim", "preview_refresh_sim", "sim_memory"])
def test_figures_of_the_site_say_when_it_is_down(name: str, machine: Machine) -> None:
    """Without the simulated site its figures are not measured, and say how to bring it up."""
    assert machine.bin.is_dir()
    with pytest.raises(NotMeasuredError, match="make up"):
        figures.registry()[name]()


def test_an_unknown_figure_lists_the_known_ones() -> None:
    """A wrong name is wrong usage, not an empty measurement."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "nothing"],
        cwd=project_root(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "plan_h100_pod" in done.stderr


def test_the_large_site_is_what_it_says(tmp_path: Path) -> None:
    """The site that is measured has 2,048 nodes and three tiers, and no error in its plan."""
    large_site.write(tmp_path)
    checked = open_site(tmp_path)
    assert len(checked.plan.nodes) == 2048
    assert [finding.text() for finding in checked.findings if finding.severity == "error"] == []
    for fabric in checked.plan.fabrics.values():
        assert {switch.role for switch in fabric.switches} == {"leaf", "spine", "core"}
