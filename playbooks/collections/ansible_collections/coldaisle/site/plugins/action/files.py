"""The action `files`: its program runs on the host, without AnsiballZ."""

from __future__ import annotations

from typing import Any, ClassVar

from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction
from ansible_collections.coldaisle.site.plugins.plugin_utils.options import FILES, RECORD


class ActionModule(HostAction):
    """Ansible's name for an action."""

    PROGRAM = "files"
    OPTIONS: ClassVar[dict[str, Any]] = {"files": {**FILES, "required": True}, "record": RECORD}
