"""Programs that a test cannot do without: what is lacking fails the test, since a skipped one proves nothing."""

from __future__ import annotations

import shutil

import pytest


def required(name: str, path: str) -> str:
    """Return where a program is; the test fails where it is not on the given PATH."""
    found = shutil.which(name, path=path)
    if found is None:
        pytest.fail(f"no {name} on PATH: `python3 -m coldaisle.toolchain install` builds it")
    return found
