"""The action `wait`: until the host takes a command, or, in check mode, whether it does now; and whether it is ours."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible_collections.coldaisle.site.plugins.module_utils.dhcp_facts import FACTS
from ansible_collections.coldaisle.site.plugins.plugin_utils.packing import answer, command, script
from ansible_collections.coldaisle.site.plugins.plugin_utils.who import (
    another_machine,
    another_system,
    copied_disk,
    whose_key,
    with_owner,
)

LASTING_SIGNS = ("Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED")
"""Words of SSH that no waiting changes."""

NOT_UP_LOOK = (
    "the node's console, its boot order, and the provisioner's DHCP and HTTP logs: where DHCP says 'ignored', the MAC "
    "address there is not in hardware.yaml; where it says nothing, a cable is wrong"
)
"""Where it shows why a node that was turned on does not come up."""

FOREIGN_DHCP, NOBODY = "foreign_dhcp", "none"
"""The kind of the provisioner's fact of other DHCP servers, and its value where none answers."""

ASK = (
    "ip -o link 2>/dev/null; "
    'tell() { said=; read -r said 2>/dev/null < "$2"; echo "$1 $said"; }; '
    "tell machine_uuid /sys/class/dmi/id/product_uuid; tell machine_serial /sys/class/dmi/id/product_serial; "
    "tell disk: /etc/machine-id; tell name: /proc/sys/kernel/hostname"
)
"""
What is asked: any host can answer it. It says which ports it has, and whose it is by its firmware, disk and name. Its
shell reads all but the ports by itself, since each play asks this of each host.
"""

ATTEMPT_S = 5
"""
How long one attempt to connect takes once a host was found off. The kernel sends a SYN again after 1, 3, 7, 15 s, so
that a longer attempt would find a host seconds after it came up.
"""

SLOW = "banner exchange"
"""Words of SSH where a host took the connection, and needs longer to say more."""


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible carries no types
    """Ansible's name for an action."""

    OPTIONS: ClassVar[dict[str, Any]] = {
        "timeout_s": {"type": "float", "default": 600.0},
        "interval_s": {"type": "float", "default": 1.0},
        "macs": {"type": "list", "elements": "str", "default": []},
        "machine": {"type": "dict", "default": {}},
        "disk_records": {"type": "str", "default": ""},
        "provisioner": {"type": "dict", "default": {}},
    }
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask until there is an answer; check mode asks once, since nothing was turned on."""
        task_vars = task_vars or {}
        result: dict[str, Any] = super().run(tmp, task_vars)
        _checked, params = self.validate_argument_spec(argument_spec=self.OPTIONS)
        started = time.monotonic()
        while True:
            why, said = self._asked()
            waited_s = round(time.monotonic() - started, 1)
            if why is None:
                stranger = self._stranger(params, said, task_vars)
                return result | {"changed": False, "up": True, "waited_s": waited_s} | stranger
            if self._task.check_mode:
                msg = f"{task_vars['inventory_hostname']} is not up: a run would wait for it and then settle it ({why})"
                return result | {"changed": False, "up": False, "why": why, "msg": msg}
            if any(sign in why for sign in LASTING_SIGNS):
                look = "the site's known_hosts and the machine's own host key: was it installed anew?"
                what = f"another host key than before{whose_key(why, task_vars)}"
                return result | {"failed": True, "msg": f"{what}: {why} (look at {look})"}
            if waited_s > params["timeout_s"]:
                servers = self._dhcp_servers(params["provisioner"], task_vars)
                return result | {"failed": True, "msg": not_up(waited_s, why, servers)}
            time.sleep(params["interval_s"])

    def _attempt_briefly(self) -> None:
        """Let the next attempts of this task be short, and none be tried again below us: we do."""
        self._connection.set_option("timeout", min(ATTEMPT_S, self._connection.get_option("timeout")))
        self._connection.set_option("reconnection_retries", 0)

    def _stranger(self, params: dict[str, Any], said: str, task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return why this is not the planned host; empty where it is, as far as it says."""
        found = another_machine(params["macs"], said) or another_system(params["machine"], said)
        if not found and params["disk_records"] and not self._task.check_mode:
            found = copied_disk(Path(params["disk_records"]).expanduser(), task_vars["inventory_hostname"], said)
        return found | ({"msg": with_owner(found["msg"], task_vars)} if found else {})

    def _asked(self) -> tuple[str | None, str]:
        """Return None when the host took a command, else why not; and what it said of its ports."""
        try:
            done = self._low_level_execute_command(ASK, sudoable=False)  # no terminal: some hosts have none
        except AnsibleConnectionFailure as error:
            self._connection.reset()
            if SLOW not in str(error):
                self._attempt_briefly()
            return " ".join(str(error).split()), ""
        why = None if done["rc"] == 0 else f"a command ended with {done['rc']}: {done['stderr'].strip()}"
        return why, done["stdout"]

    def _dhcp_servers(self, provisioner: dict[str, str], task_vars: dict[str, Any]) -> str | None:
        """
        Return which other DHCP servers the provisioner hears; None where there is nobody to ask, or no answer.

        The provisioner is reached as the site's other hosts are: this task's connection, of which nothing else comes,
        goes to another address.
        """
        if not provisioner:
            return None
        self._connection.set_option("host", provisioner["address"])
        name = provisioner["fact"]
        sent = script("read", {"facts": [name]}, check=False, kinds=[FOREIGN_DHCP])
        python = command(str(task_vars.get("ansible_python_interpreter", "/usr/bin/python3")))
        try:
            done = self._low_level_execute_command(python, sudoable=False, in_data=sent)
        except AnsibleConnectionFailure:
            return None
        found: str | None = answer(done["rc"], done["stdout"], done["stderr"]).get("facts", {}).get(name)
        return found


def not_up(waited_s: float, why: str, servers: str | None) -> str:
    """Return what is told of a host that is late, given which other DHCP servers answer; None where that is unknown."""
    late = f"not up after {waited_s:g} s"
    if servers is None or servers == NOBODY:
        guess = " or another server answers" if servers is None else ""
        return f"{late}: {why} (look at {NOT_UP_LOOK}{guess})"
    look = f"{FACTS[FOREIGN_DHCP].hint}; this one may have: turn it off and on after that"
    return (
        f"{late}, and another DHCP server answers on the network that it boots from, {servers}: {why} (look at {look})"
    )
