"""BMCs and a state folder for tests of discovery, as the plays' tests have them."""

from __future__ import annotations

from tests.unit.playbooks.conftest import state_home
from tests.unit.playbooks.ipmi_bmcs import serve_ipmi

__all__ = ["serve_ipmi", "state_home"]
