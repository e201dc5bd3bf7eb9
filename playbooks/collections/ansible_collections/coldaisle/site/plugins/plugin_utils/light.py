"""
Running a small program on a host without AnsiballZ.

Ansible's own way ships module_utils as a zip and compiles `basic` and what it imports in every task: some ten CPU
seconds on an emulated host. Here the host gets the few modules of ours that a task needs, and standard Python only.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ansible.plugins.action import ActionBase
from ansible_collections.coldaisle.site.plugins.plugin_utils.packing import ALL, answer, command, packed, script


class HostAction(ActionBase):  # type: ignore[misc]  # Ansible carries no types
    """An action that runs one program on the host; a subclass says which, and which options it takes."""

    PROGRAM: ClassVar[str]
    OPTIONS: ClassVar[dict[str, Any]]
    _supports_check_mode = True
    _supports_async = False
    _supports_diff = True

    def __init_subclass__(cls) -> None:
        """Pack the program when the plugin is loaded: before Ansible forks a process for each task of each host."""
        super().__init_subclass__()
        packed(cls.PROGRAM, ALL)

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Check the options, run the program, and return its result."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _checked, params = self.validate_argument_spec(argument_spec=self.OPTIONS)
        return result | self.on_host(params, task_vars)

    def on_host(self, params: dict[str, Any], task_vars: dict[str, Any] | None) -> dict[str, Any]:
        """Run the program with its parameters, and return its result."""
        interpreter = str((task_vars or {}).get("ansible_python_interpreter", "/usr/bin/python3"))
        sent = script(self.PROGRAM, params, check=bool(self._task.check_mode))
        done = self._low_level_execute_command(command(interpreter), in_data=sent)
        return answer(done["rc"], done["stdout"], done["stderr"])
