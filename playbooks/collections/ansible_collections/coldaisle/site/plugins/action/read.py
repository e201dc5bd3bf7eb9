"""The action `read`: BMC, cluster and switch are asked in this process, then a small program on the host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure
from ansible_collections.coldaisle.site.plugins.filter.facts import host_facts
from ansible_collections.coldaisle.site.plugins.plugin_utils.elsewhere import ask, askings
from ansible_collections.coldaisle.site.plugins.plugin_utils.here import preload
from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction
from ansible_collections.coldaisle.site.plugins.plugin_utils.options import TELLERS

preload("module_utils.bmc_redfish", "module_utils.bmc_ipmi", "module_utils.node", "module_utils.switch_life")

Found = dict[str, Any]


class ActionModule(HostAction):
    """Ansible's name for an action."""

    PROGRAM = "read"
    OPTIONS: ClassVar[dict[str, Any]] = {
        "facts": {"type": "list", "elements": "str", "required": True},
        **TELLERS,
    }

    def work(self, params: dict[str, Any], task_vars: Mapping[str, Any]) -> Found:
        """Read what is asked for. What BMC and cluster tell is kept of a host that does not answer."""
        return {"changed": False, **self.found(params["facts"], params, task_vars)}

    def found(self, names: list[str], params: Mapping[str, Any], task_vars: Mapping[str, Any]) -> Found:
        """Return `facts` and `errors` of these facts, asked of whom the options give access to and of the host."""
        found: Found = {"facts": {}, "errors": {}}
        for asking in askings(names, params):
            facts, errors = ask(asking)
            _add(found, asking.names, {"facts": facts, "errors": errors})
        own = [] if params["switch"] else host_facts(names)
        if own:
            try:
                _add(found, own, self.on_host({"facts": own}, task_vars))
            except AnsibleConnectionFailure as error:
                return found | {"unreachable": True, "msg": str(error)}
        return found


def _add(found: Found, names: Iterable[str], answer: Found) -> None:
    """Add an answer; one that is no reading is the reason why each of its facts could not be read."""
    found["facts"] |= answer.get("facts", {})
    found["errors"] |= answer.get("errors", {})
    if answer.get("failed"):
        found["errors"] |= dict.fromkeys(names, str(answer.get("msg", "it failed without a message")))
