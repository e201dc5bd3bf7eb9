"""The action `join`: its program runs on the host, without AnsiballZ."""

from __future__ import annotations

from typing import Any, ClassVar

from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction
from ansible_collections.coldaisle.site.plugins.plugin_utils.options import FILES


class ActionModule(HostAction):
    """Ansible's name for an action."""

    PROGRAM = "join"
    OPTIONS: ClassVar[dict[str, Any]] = {
        "kubeconfig": {"type": "dict", "required": True},
        "token": {"type": "str", "required": True, "no_log": True},
        "timeout_s": {"type": "float", "default": 90.0},
        "files": {**FILES, "default": []},
    }
