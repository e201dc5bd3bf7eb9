"""The action `wait`: until the host takes a command, or, in check mode, whether it does now; and whether it is ours."""

from __future__ import annotations

from typing import Any

from ansible_collections.coldaisle.site.plugins.plugin_utils.waiting import OPTIONS, WaitingAction


class ActionModule(WaitingAction):
    """Ansible's name for an action."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Wait, and return how long that took."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        checked, _params = self.validate_argument_spec(argument_spec=OPTIONS)
        return result | self.waited(checked.validated_parameters, task_vars or {})
