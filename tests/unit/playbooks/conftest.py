"""BMCs that speak IPMI, and a folder of their own for what is remembered of BMCs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.playbooks.ipmi_bmcs import serve_ipmi, start  # noqa: F401  # fixtures


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is remembered of BMCs below the test's own folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"
