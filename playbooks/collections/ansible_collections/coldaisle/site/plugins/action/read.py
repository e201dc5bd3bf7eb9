"""The action `read`: BMC, cluster and switch are asked in this process, then a small program on the host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible_collections.coldaisle.site.plugins.filter.facts import bmc_facts, host_facts, node_facts
from ansible_collections.coldaisle.site.plugins.plugin_utils.here import answer_of, preload
from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction

preload(
    "modules.bmc_read",
    "module_utils.bmc_redfish",
    "module_utils.bmc_ipmi",
    "modules.node_read",
    "modules.switch_read",
)

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
        for module, access, names in _elsewhere(params):
            _add(found, names, answer_of(self, module, {**access, "facts": names}, task_vars or {}))
        names = [] if params["switch"] else host_facts(params["facts"])
        if names:
            try:
                _add(found, names, self.on_host({"facts": names}, task_vars))
            except AnsibleConnectionFailure as error:
                return result | found | {"unreachable": True, "msg": str(error)}
        return result | found


def _elsewhere(params: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    """Yield what is read without the host: the module that does it, its access, and the facts."""
    facts = params["facts"]
    if names := bmc_facts(facts):
        yield "bmc_read", params["bmc"], names
    if names := node_facts(facts):
        yield "node_read", params["node"], names
    if params["switch"]:
        yield "switch_read", params["switch"], list(facts)


def _add(found: Found, names: Iterable[str], answer: Found) -> None:
    """Add an answer; one that is no reading is the reason why each of its facts could not be read."""
    found["facts"] |= answer.get("facts", {})
    found["errors"] |= answer.get("errors", {})
    if answer.get("failed"):
        found["errors"] |= dict.fromkeys(names, str(answer.get("msg", "it failed without a message")))
