"""The sites of the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.components.sites import opened

if TYPE_CHECKING:
    from coldaisle.check import CheckedSite


@pytest.fixture
def sim() -> CheckedSite:
    """Return the simulated site."""
    return opened("sim")


@pytest.fixture
def h100_pod() -> CheckedSite:
    """Return the site of four scalable units."""
    return opened("h100-pod")
