"""The action `files`: its program runs on the host, without AnsiballZ."""

from __future__ import annotations

from typing import Any, ClassVar

from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction


class ActionModule(HostAction):
    """Ansible's name for an action."""

    PROGRAM = "files"
    OPTIONS: ClassVar[dict[str, Any]] = {
        "files": {
            "type": "list",
            "elements": "dict",
            "required": True,
            "options": {
                "path": {"type": "str", "required": True},
                "content": {"type": "str", "required": True},
                "mode": {"type": "str", "default": "0644"},
                "owner": {"type": "str", "default": "root"},
                "reload": {"type": "list", "elements": "str", "default": []},
            },
        },
        "record": {
            "type": "dict",
            "options": {"name": {"type": "str", "required": True}, "digest": {"type": "str", "required": True}},
        },
    }
