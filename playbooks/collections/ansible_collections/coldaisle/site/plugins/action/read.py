"""The action `read`: its program runs on the host, without AnsiballZ."""

from __future__ import annotations

from typing import Any, ClassVar

from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction


class ActionModule(HostAction):
    """Ansible's name for an action."""

    PROGRAM = "read"
    OPTIONS: ClassVar[dict[str, Any]] = {"facts": {"type": "list", "elements": "str", "required": True}}
