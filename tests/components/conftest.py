"""The sites of the repository."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.components.sites import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldaisle.check import CheckedSite


@pytest.fixture(scope="module", autouse=True)
def _loop() -> Iterator[None]:
    """Give Pulumi's mocks the event loop that they ask for: `asyncio.run` in an earlier test leaves none."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture
def sim() -> CheckedSite:
    """Return the simulated site."""
    return opened("sim")


@pytest.fixture
def h100_pod() -> CheckedSite:
    """Return the site of four scalable units."""
    return opened("h100-pod")
