"""The action `settle`: its program runs on the host, without AnsiballZ."""

from __future__ import annotations

from typing import Any, ClassVar

from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction
from ansible_collections.coldaisle.site.plugins.plugin_utils.options import LINKS


class ActionModule(HostAction):
    """Ansible's name for an action."""

    PROGRAM = "settle"
    OPTIONS: ClassVar[dict[str, Any]] = {
        "facts": {"type": "dict", "required": True},
        "links": LINKS,
    }
