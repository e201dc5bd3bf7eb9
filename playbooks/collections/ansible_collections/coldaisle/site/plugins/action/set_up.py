"""The action `set_up`: its program runs on the host, without AnsiballZ."""

from __future__ import annotations

from typing import Any, ClassVar

from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction
from ansible_collections.coldaisle.site.plugins.plugin_utils.options import FILES, LINKS, RECORD


class ActionModule(HostAction):
    """Ansible's name for an action."""

    PROGRAM = "set_up"
    OPTIONS: ClassVar[dict[str, Any]] = {
        "files": {**FILES, "required": True},
        "record": {**RECORD, "required": True},
        "facts": {"type": "dict", "required": True},
        "links": LINKS,
    }
