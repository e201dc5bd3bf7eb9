"""The action `read`: BMC, cluster and switch are asked in this process, then a small program on the host."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible_collections.coldaisle.site.plugins.filter.facts import host_facts
from ansible_collections.coldaisle.site.plugins.plugin_utils.elsewhere import ask, askings
from ansible_collections.coldaisle.site.plugins.plugin_utils.here import preload
from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction

preload("module_utils.bmc_redfish", "module_utils.bmc_ipmi", "module_utils.node", "module_utils.switch_life")

Found = dict[str, Any]


class ActionModule(HostAction):
    """Ansible's name for an action."""

    PROGRAM = "read"
    OPTIONS: ClassVar[dict[str, Any]] = {
        "facts": {"type": "list", "elements": "str", "required": True},
        "bmc": {"type": "dict", "default": {}},
        "node": {"type": "dict", "default": {}},
        "switch": {"type": "dict", "default": {}},
    }

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> Found:
        """Read what is asked for. What BMC and cluster tell is kept of a host that does not answer."""
        result: Found = ActionBase.run(self, tmp, task_vars)
        _checked, params = self.validate_argument_spec(argument_spec=self.OPTIONS)
        found: Found = {"changed": False, "facts": {}, "errors": {}}
        for asking in askings(params["facts"], params):
            facts, errors = ask(asking)
            _add(found, asking.names, {"facts": facts, "errors": errors})
        names = [] if params["switch"] else host_facts(params["facts"])
        if names:
            try:
                _add(found, names, self.on_host({"facts": names}, task_vars))
            except AnsibleConnectionFailure as error:
                return result | found | {"unreachable": True, "msg": str(error)}
        return result | found


def _add(found: Found, names: Iterable[str], answer: Found) -> None:
    """Add an answer; one that is no reading is the reason why each of its facts could not be read."""
    found["facts"] |= answer.get("facts", {})
    found["errors"] |= answer.get("errors", {})
    if answer.get("failed"):
        found["errors"] |= dict.fromkeys(names, str(answer.get("msg", "it failed without a message")))
