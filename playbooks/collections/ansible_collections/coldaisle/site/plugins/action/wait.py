"""The action `wait`: until the host takes a command, or, in check mode, whether it does now."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

LASTING_SIGNS = ("Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED")
"""Words of SSH that no waiting changes."""


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible carries no types
    """Ansible's name for an action."""

    OPTIONS: ClassVar[dict[str, Any]] = {
        "timeout_s": {"type": "float", "default": 600.0},
        "interval_s": {"type": "float", "default": 1.0},
    }
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask until there is an answer; check mode asks once, since nothing was turned on."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _checked, params = self.validate_argument_spec(argument_spec=self.OPTIONS)
        started = time.monotonic()
        while True:
            why = self._asked()
            waited_s = round(time.monotonic() - started, 1)
            if why is None:
                return result | {"changed": False, "up": True, "waited_s": waited_s}
            if self._task.check_mode:
                return result | {"changed": False, "up": False, "why": why}
            if any(sign in why for sign in LASTING_SIGNS):
                look = "the site's known_hosts and the machine's own host key: was it installed anew?"
                return result | {"failed": True, "msg": f"another host key than before: {why} (look at {look})"}
            if waited_s > params["timeout_s"]:
                look = "the node's console, its boot order, and the provisioner's DHCP and HTTP logs"
                return result | {"failed": True, "msg": f"not up after {waited_s:g} s: {why} (look at {look})"}
            time.sleep(params["interval_s"])

    def _asked(self) -> str | None:
        """Return None when the host took a command, else why not."""
        try:
            done = self._low_level_execute_command("true")
        except AnsibleConnectionFailure as error:
            self._connection.reset()
            return " ".join(str(error).split())
        return None if done["rc"] == 0 else f"true ended with {done['rc']}: {done['stderr'].strip()}"
