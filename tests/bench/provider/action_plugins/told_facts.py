"""The action `told_facts`: a host tells the facts that it is asked for, without a process of its own."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible carries no types
    """Ansible's name for an action."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the facts."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        facts, changed = self._task.args["facts"], self._task.args["changed"]
        return result | {"changed": changed, "facts": facts, "errors": {}, "changes": []}
