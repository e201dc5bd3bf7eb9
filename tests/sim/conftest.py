"""The plan of the simulated site, and an empty state folder, for tests that start nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.plan.model import SitePlan
from sim.state import State

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def plan() -> SitePlan:
    """Return the plan of inventory/sim, or of the site folder that COLDAISLE_SITE names."""
    return open_site(Path(os.environ.get("COLDAISLE_SITE", ROOT / "inventory/sim"))).plan


@pytest.fixture
def state(tmp_path: Path) -> State:
    """Return the state of a site `sim` in an empty folder."""
    found = State("sim", tmp_path / "sim")
    found.make_folders()
    return found
