"""Sites of the repository, planned and checked once for all tests."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from coldaisle.check import CheckedSite, open_site

ROOT = Path(__file__).parents[2]


@cache
def opened(name: str) -> CheckedSite:
    """Return a site, planned and checked."""
    here = Path.cwd()
    os.chdir(ROOT)
    try:
        return open_site(Path("inventory") / name)
    finally:
        os.chdir(here)
