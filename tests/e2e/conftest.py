"""A simulated site that is up."""

from __future__ import annotations

import os

import pytest

from coldaisle.check import open_site
from coldaisle.spec import site_folder
from coldaisle.toolchain.site import is_up
from tests.e2e.terminal import ROOT, SITE, Terminal


@pytest.fixture(scope="session")
def site() -> Terminal:
    """A terminal at the deploy host of a simulated site that `make up` has brought up."""
    if os.geteuid() != 0 or not is_up():
        pytest.skip("the simulated site is not up: run `make up` as root")
    return Terminal(open_site(site_folder(str(ROOT / "inventory" / SITE))).plan)
