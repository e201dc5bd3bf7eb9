"""Small files in a site's state folder that make things faster or better told, and that nothing depends on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from coldaisle.files import write_whole

if TYPE_CHECKING:
    from pathlib import Path


def kept(file: Path) -> dict[str, str]:
    """Return what a file has by name; nothing where there is no such file yet, or a broken one."""
    try:
        found: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def keep(file: Path, before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    """Write what a file has where it changed, whole or not at all, and return it."""
    if after != before:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(file, json.dumps(after, indent=1, sort_keys=True))
    return after
