"""What stand-ins of vendors' tools keep between calls: a small JSON file each, which lasts until the host restarts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path("/run/coldaisle-tools")


def recall(tool: str, thing: str, first: dict[str, Any]) -> dict[str, Any]:
    """Return what a tool last kept of a thing, over what it has to begin with."""
    file = FOLDER / tool / f"{thing}.json"
    kept: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return {**first, **kept}


def keep(tool: str, thing: str, values: dict[str, Any]) -> None:
    """Keep what a tool was told of a thing."""
    (FOLDER / tool).mkdir(parents=True, exist_ok=True)
    (FOLDER / tool / f"{thing}.json").write_text(json.dumps(values))
