"""
Running a small program on a host without AnsiballZ.

Ansible's own way ships module_utils as a zip and compiles `basic` and what it imports in every task: some ten CPU
seconds on an emulated host. Here the host gets the few modules of ours that a task needs, and standard Python only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ansible_collections.coldaisle.site.plugins.plugin_utils.here import load_filters
from ansible_collections.coldaisle.site.plugins.plugin_utils.packing import ALL, answer, command, packed, script
from ansible_collections.coldaisle.site.plugins.plugin_utils.waiting import WaitingAction, plain

UP: dict[str, Any] = {"up": {"type": "bool", "default": False}}
"""What each of these actions takes: whether to wait for the host first, as its variables `up_*` say."""


class HostAction(WaitingAction):
    """An action that runs one program on the host; a subclass says which, and which options it takes."""

    PROGRAM: ClassVar[str]
    OPTIONS: ClassVar[dict[str, Any]]
    _supports_check_mode = True
    _supports_async = False
    _supports_diff = True

    def __init_subclass__(cls) -> None:
        """Pack the program and load filters when the plugin is loaded: before Ansible forks a process for each task."""
        super().__init_subclass__()
        packed(cls.PROGRAM, ALL)
        load_filters()

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Check the options, wait for the host where that is asked for, run the program, and return its result."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        params = self.options()
        awaited = self.waited_as_planned(task_vars or {}) if params.pop("up") else {}
        if awaited.get("failed") or not awaited.get("up", True):
            return result | awaited
        return result | awaited | self.work(params, task_vars or {})

    def work(self, params: dict[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """Do the task on a host that is up, and return its result: a subclass may do more than run the program."""
        return self.on_host(params, task_vars)

    def options(self) -> dict[str, Any]:
        """Return the task's options, checked and with their defaults."""
        self._task.args = plain(self._task.args)
        checked, _params = self.validate_argument_spec(argument_spec=self.OPTIONS | UP)
        found: dict[str, Any] = checked.validated_parameters
        return found

    def on_host(self, params: Mapping[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """Run the program with its parameters, and return its result."""
        interpreter = str(task_vars.get("ansible_python_interpreter", "/usr/bin/python3"))
        sent = script(self.PROGRAM, params, check=bool(self._task.check_mode))
        done = self._low_level_execute_command(command(interpreter), in_data=sent)
        return answer(done["rc"], done["stdout"], done["stderr"])
