"""The action `wipe`: its program runs on the host, without AnsiballZ."""

from __future__ import annotations

from typing import Any, ClassVar

from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction


class ActionModule(HostAction):
    """Ansible's name for an action."""

    PROGRAM = "wipe"
    OPTIONS: ClassVar[dict[str, Any]] = {
        "node": {"type": "str", "required": True},
        "disks": {"type": "list", "elements": "str", "required": True},
        "consent": {"type": "dict", "required": True},
        "method": {"type": "str", "choices": ["signatures", "overwrite", "erase"], "default": "signatures"},
    }
