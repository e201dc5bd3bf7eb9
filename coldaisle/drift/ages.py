"""
How old a fact is: when each host last told something.

The times lie in a file of the site's folder, beside the engine's state and not in it: a time in the state would be a
change at every look, and drift changes nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

READ_AT_FILE = "read-at.json"
"""Times by host (ISO 8601), written by who reads hosts."""


def read_at(folder: Path) -> Mapping[str, str]:
    """Return when each host last told something; nothing where nobody has asked one yet."""
    try:
        found = json.loads((folder / READ_AT_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(host): str(time) for host, time in found.items()} if isinstance(found, dict) else {}
