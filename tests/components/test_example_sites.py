"""The stacks of the example sites, previewed by the engine on a machine that reaches nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.components.test_engine import project

SHOWN = {
    "b200-roce": (
        "coldaisle:facility:Rack r16 create",
        "coldaisle:fabric:Tier compute-leaf create",
        "coldaisle:metal:NodePool train create",
        'r01: "57200 W on 3 feeds, 40 of 48 U"',
    ),
    "gb200-nvl72": (
        "coldaisle:facility:Rack r08 create",
        "coldaisle:facility:CoolingLoop cdu create",
        "coldaisle:fabric:Tier compute-spine create",
        'r01: "132150 W on 8 feeds, 36 of 48 U"',
    ),
}


@pytest.mark.parametrize("site", sorted(SHOWN))
def test_the_preview_of_a_site_needs_no_network(site: str, tmp_path: Path) -> None:
    """Racks, budgets, switches and pools are shown with nothing contacted, in a stack of under 300 resources."""
    shown = project(tmp_path, site, ["facility", "fabric", "metal"])("preview", offline=True)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    for line in SHOWN[site]:
        assert line in shown.stdout
    assert shown.stdout.count(" create") < 300
