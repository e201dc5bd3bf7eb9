"""
Running a module of ours in the process of its task.

What a BMC tells is asked on the deploy host, where Ansible's own way costs half a second of CPU a task: it packs the
module, starts a Python, and that imports the libraries of Redfish and IPMI again. Here they are imported once, before
Ansible forks the processes of its tasks; each of those runs one task and ends, so that nothing is shared between two.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

from ansible.module_utils.testing import patch_module_args
from ansible.plugins.action import ActionBase
from ansible.plugins.loader import filter_loader
from ansible_collections.coldaisle.site.plugins.plugin_utils.who import with_owner

PLUGINS = "ansible_collections.coldaisle.site.plugins"

A_FILTER = "coldaisle.site.only"
"""Any of our filters: with it Ansible loads all of them, and its own."""


def load_filters() -> None:
    """Load Ansible's filters and ours: each process that it forks would do so, at the first template that has one."""
    with contextlib.suppress(KeyError):  # outside of Ansible nobody has told where collections are
        filter_loader.get(A_FILTER)


def preload(*names: str) -> None:
    """Import what a module will need, and load filters; a library that is missing is told when its module is asked."""
    load_filters()
    for name in names:
        with contextlib.suppress(ImportError):
            import_module(f"{PLUGINS}.{name}")


def answer_of(action: ActionBase, module: str, options: Mapping[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
    """
    Run a module of this collection for a task, and return its result; options that are None are left out.

    `patch_module_args` is made for tests of modules, which run them in their process just as this does.
    """
    arguments = {name: value for name, value in options.items() if value is not None}
    action._update_module_args(f"coldaisle.site.{module}", arguments, task_vars)  # noqa: SLF001  # as Ansible's own do
    output = io.StringIO()
    with patch_module_args(arguments), contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        import_module(f"{PLUGINS}.modules.{module}").main()
    lines = output.getvalue().strip().splitlines()
    if not lines:
        return {"failed": True, "msg": f"{module} ended without a result"}
    answer: dict[str, Any] = json.loads(lines[-1])
    return answer


class HereAction(ActionBase):  # type: ignore[misc]  # Ansible carries no types
    """An action that runs the module of its name in this process; a subclass says which."""

    MODULE: ClassVar[str]
    _supports_check_mode = True
    _supports_async = False
    _supports_diff = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the module, and return its result."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        answer = answer_of(self, self.MODULE, self._task.args, task_vars or {})
        if answer.get("failed"):
            answer["msg"] = with_owner(str(answer.get("msg", "")), task_vars or {})
        return result | answer
