"""The action `switch`: its program runs on the switch, without AnsiballZ."""

from __future__ import annotations

from typing import Any, ClassVar

from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction


class ActionModule(HostAction):
    """Ansible's name for an action."""

    PROGRAM = "switch"
    OPTIONS: ClassVar[dict[str, Any]] = {
        "system": {"type": "str", "default": "frr", "choices": ["frr", "sonic"]},
        "config": {"type": "str", "default": ""},
        "keep_extra": {"type": "bool", "default": False},
        "timer_s": {"type": "int", "default": 120},
        "sessions_s": {"type": "int", "default": 45},
        "token": {"type": "str", "default": ""},
    }
