"""Options that several actions take."""

from __future__ import annotations

from typing import Any

FILES: dict[str, Any] = {
    "type": "list",
    "elements": "dict",
    "options": {
        "path": {"type": "str", "required": True},
        "content": {"type": "str", "required": True},
        "mode": {"type": "str", "default": "0644"},
        "owner": {"type": "str", "default": "root"},
        "reload": {"type": "list", "elements": "str", "default": []},
    },
}
"""Text files to write."""

RECORD: dict[str, Any] = {
    "type": "dict",
    "options": {"name": {"type": "str", "required": True}, "digest": {"type": "str", "required": True}},
}
"""Under which name a host remembers what was written."""

LINKS: dict[str, Any] = {"type": "list", "elements": "dict", "default": []}
"""Ports of the host."""

TELLERS: dict[str, Any] = {name: {"type": "dict", "default": {}} for name in ("bmc", "node", "switch")}
"""Access to those who tell of a host without it; empty where there is none."""
