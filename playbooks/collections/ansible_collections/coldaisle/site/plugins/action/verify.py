"""The action `verify`: reads every planned fact as `read` does, and fails where one is not as planned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ansible_collections.coldaisle.site.plugins.action.read import ActionModule as ReadAction
from ansible_collections.coldaisle.site.plugins.module_utils.facts import different
from ansible_collections.coldaisle.site.plugins.plugin_utils.options import TELLERS


class ActionModule(ReadAction):
    """Ansible's name for an action."""

    OPTIONS: ClassVar[dict[str, Any]] = {"planned": {"type": "dict", "required": True}, **TELLERS}

    def work(self, params: dict[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """Read, compare, and say where planned and seen differ."""
        planned = params["planned"]
        found = self.found(list(planned), params, task_vars)
        if found.get("unreachable"):
            return found
        differing = _differences(planned, found["facts"], found["errors"])
        told = "; ".join(differing) or f"{len(planned)} facts are as planned"
        return {"changed": False, "failed": bool(differing), "msg": told, **found}


def _differences(planned: Mapping[str, Any], seen: Mapping[str, Any], errors: Mapping[str, str]) -> list[str]:
    """Return a sentence for each fact that does not fit the plan or could not be read."""
    return [
        f"{name} is {seen[name]}, planned {planned[name]}"
        if name in seen
        else f"{name}: {errors.get(name, 'not read')}"
        for name in different(planned, seen)
    ]
