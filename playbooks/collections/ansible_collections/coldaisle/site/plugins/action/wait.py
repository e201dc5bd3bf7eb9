"""The action `wait`: until the host takes a command, or, in check mode, whether it does now; and whether it is ours."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

LASTING_SIGNS = ("Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED")
"""Words of SSH that no waiting changes."""

NOT_UP_LOOK = (
    "the node's console, its boot order, and the provisioner's DHCP and HTTP logs: where DHCP says 'ignored', the MAC "
    "address there is not in hardware.yaml; where it says nothing, a cable is wrong or another server answers"
)
"""Where it shows why a node that was turned on does not come up."""

ASK = "ip -o link 2>/dev/null || true"
"""What is asked: any host can answer it, and one with iproute2 says which ports it has."""

MAC = re.compile(r"(?:link/ether|permaddr) ([0-9a-f:]{17})")
"""A port's MAC address, and the one that it was made with where a bond has given it another."""


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible carries no types
    """Ansible's name for an action."""

    OPTIONS: ClassVar[dict[str, Any]] = {
        "timeout_s": {"type": "float", "default": 600.0},
        "interval_s": {"type": "float", "default": 1.0},
        "macs": {"type": "list", "elements": "str", "default": []},
    }
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask until there is an answer; check mode asks once, since nothing was turned on."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _checked, params = self.validate_argument_spec(argument_spec=self.OPTIONS)
        started = time.monotonic()
        while True:
            why, said = self._asked()
            waited_s = round(time.monotonic() - started, 1)
            if why is None:
                stranger = another_machine(params["macs"], said)
                return result | {"changed": False, "up": True, "waited_s": waited_s} | stranger
            if self._task.check_mode:
                return result | {"changed": False, "up": False, "why": why}
            if any(sign in why for sign in LASTING_SIGNS):
                look = "the site's known_hosts and the machine's own host key: was it installed anew?"
                return result | {"failed": True, "msg": f"another host key than before: {why} (look at {look})"}
            if waited_s > params["timeout_s"]:
                look = NOT_UP_LOOK
                return result | {"failed": True, "msg": f"not up after {waited_s:g} s: {why} (look at {look})"}
            time.sleep(params["interval_s"])

    def _asked(self) -> tuple[str | None, str]:
        """Return None when the host took a command, else why not; and what it said of its ports."""
        try:
            done = self._low_level_execute_command(ASK)
        except AnsibleConnectionFailure as error:
            self._connection.reset()
            return " ".join(str(error).split()), ""
        why = None if done["rc"] == 0 else f"a command ended with {done['rc']}: {done['stderr'].strip()}"
        return why, done["stdout"]


def another_machine(planned: Iterable[str], said: str) -> dict[str, Any]:
    """
    Return a failure where the host has none of the planned ports; empty where it has one, or says nothing of them.

    A wrong cable, a lease that went to another machine or an address given twice lead here: nothing may be set then.
    """
    wanted, there = {mac.lower() for mac in planned}, set(MAC.findall(said.lower()))
    if not wanted or not there or wanted & there:
        return {}
    what = f"another machine answers: it has the ports {', '.join(sorted(there))}, planned {', '.join(sorted(wanted))}"
    look = "the lease or address of both machines, the cable of its boot port, and the MAC addresses in hardware.yaml"
    return {"failed": True, "msg": f"{what}; nothing was changed (look at {look})"}
