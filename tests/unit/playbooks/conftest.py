"""Makes our Ansible collection importable, as Ansible does it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "playbooks" / "collections"))

from tests.unit.playbooks.ipmi_bmcs import serve_ipmi, start  # noqa: F401  # fixtures, which need that path


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is remembered of BMCs below the test's own folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"
