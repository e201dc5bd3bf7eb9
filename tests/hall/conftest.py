"""A hall of ten light hosts, which the tests of this folder share: made once, with every play applied, then removed."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from sim.shell import environment
from tests.hall_sites import Hall, hall
from tests.programs import required

HOSTS = 10


@pytest.fixture(scope="session")
def floor() -> Iterator[Hall]:
    """Return a hall whose hosts are installed and off."""
    for program in ("nsenter", "unshare", "setpriv", "ssh-keygen"):
        required(program, environment()["PATH"])
    with hall(HOSTS, name=f"t{os.getpid() % 100000}") as found:
        found.plays("prepare")
        yield found


@pytest.fixture(scope="session")
def brought_up(floor: Hall) -> Hall:
    """Return the hall with every play applied by the provider."""
    assert floor.plays("apply")["reasons"] == {}
    return floor
