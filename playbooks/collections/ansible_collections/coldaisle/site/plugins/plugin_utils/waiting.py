"""
Waiting for a host, and asking whose it is, as the first thing of a task: nothing is set before that.

Each play on a host begins with it. It is no task of its own there, since each costs every host a process of Ansible.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
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


OPTIONS: dict[str, Any] = {
    "timeout_s": {"type": "float", "default": 600.0},
    "interval_s": {"type": "float", "default": 1.0},
    "macs": {"type": "list", "elements": "str", "default": []},
    "machine": {"type": "dict", "default": {}},
    "disk_records": {"type": "str", "default": ""},
    "provisioner": {"type": "dict", "default": {}},
}
"""What the action `wait` takes, and a task that waits first finds among its host's variables, each behind PREFIX."""

PREFIX = "up_"


def plain(options: Any) -> Any:  # noqa: ANN401 - plain data of every kind
    """Return options without what Ansible knows of the origin of each text: to check options it copies them, slowly."""
    return json.loads(json.dumps(options))


class WaitingAction(ActionBase):  # type: ignore[misc]  # Ansible carries no types
    """An action that can wait for its host."""

    _patience: Mapping[str, Any] = MappingProxyType({})

    def waited_as_planned(self, task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """Wait as the host's variables say, and return what `waited` does."""
        given = {name: task_vars[PREFIX + name] for name in OPTIONS if PREFIX + name in task_vars}
        checked = ArgumentSpecValidator(OPTIONS).validate(plain(self._templar.template(given)))
        if checked.error_messages:
            return {"failed": True, "msg": f"variables {PREFIX}*: {'; '.join(checked.error_messages)}"}
        return self.waited(checked.validated_parameters, task_vars)

    def waited(self, params: Mapping[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """
        Ask until there is an answer; check mode asks once, since nothing was turned on.

        Returns:
            `up`, and `waited_s` where it is; or a failure, with `msg`.
        """
        started = time.monotonic()
        while True:
            why, said = self._asked()
            waited_s = round(time.monotonic() - started, 1)
            if why is None:
                self._set(self._patience)
                stranger = self._stranger(params, said, task_vars)
                return {"changed": False, "up": True, "waited_s": waited_s} | stranger
            if self._task.check_mode:
                msg = f"{task_vars['inventory_hostname']} is not up: a run would wait for it and then settle it ({why})"
                return {"changed": False, "up": False, "why": why, "msg": msg}
            if any(sign in why for sign in LASTING_SIGNS):
                look = "the site's known_hosts and the machine's own host key: was it installed anew?"
                what = f"another host key than before{whose_key(why, task_vars)}"
                return {"failed": True, "msg": f"{what}: {why} (look at {look})"}
            if waited_s > params["timeout_s"]:
                servers = self._dhcp_servers(params["provisioner"], task_vars)
                return {"failed": True, "msg": not_up(waited_s, why, servers)}
            time.sleep(params["interval_s"])

    def _attempt_briefly(self) -> None:
        """Let the next attempts be short, and none be tried again below us, until the host answers: we do."""
        if not self._patience:
            self._patience = {name: self._connection.get_option(name) for name in ("timeout", "reconnection_retries")}
        self._set({"timeout": min(ATTEMPT_S, self._patience["timeout"]), "reconnection_retries": 0})

    def _set(self, options: Mapping[str, Any]) -> None:
        for name, value in options.items():
            self._connection.set_option(name, value)

    def _stranger(self, params: Mapping[str, Any], said: str, task_vars: Mapping[str, Any]) -> dict[str, Any]:
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

    def _dhcp_servers(self, provisioner: Mapping[str, str], task_vars: Mapping[str, Any]) -> str | None:
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
