"""
Running a small program on a host without AnsiballZ.

Ansible's own way ships module_utils as a zip and compiles `basic` and what it imports in every task: some ten CPU
seconds on an emulated host. Here the host gets the few modules of ours that a task needs, and standard Python only.
"""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from ansible.plugins.action import ActionBase
from ansible_collections.coldaisle.site.plugins.module_utils.facts import KINDS_OF

PACKAGE = "ansible_collections.coldaisle.site.plugins.module_utils"
MODULES = Path(__file__).parents[1] / "module_utils"

LOADER = """
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
import json
SOURCES, PACKAGE, REQUEST = json.loads({payload!r})
class Loader:
    def find_spec(self, name, path=None, target=None):
        if (PACKAGE + ".").startswith(name + "."):
            return ModuleSpec(name, self, is_package=True)
        if name.startswith(PACKAGE + ".") and name[len(PACKAGE) + 1:] in SOURCES:
            return ModuleSpec(name, self)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        source = SOURCES.get(module.__name__.rpartition(".")[2], "")
        exec(compile(source, module.__name__, "exec"), module.__dict__)
sys.meta_path.insert(0, Loader())
program = import_module(PACKAGE + ".run_" + REQUEST["program"])
print(json.dumps(program.run(REQUEST["params"], check=REQUEST["check"])))
"""
"""The program that the host's Python reads from its standard input."""

LAST_LINES = 3


@cache
def _sources(program: str) -> dict[str, str]:
    """Return the sources of a program and of every module of ours that it imports or may load, by name."""
    found: dict[str, str] = {}
    wanted = [f"run_{program}"]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = (MODULES / f"{name}.py").read_text(encoding="utf-8")
            wanted += [*_imported(found[name]), *(KINDS_OF if name == "facts" else ())]
    return found


def _imported(source: str) -> list[str]:
    """Return the modules of ours that a source imports, wherever in it."""
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    whole = [alias.name for node in imports if node.module == PACKAGE for alias in node.names]
    parts = [
        node.module.removeprefix(f"{PACKAGE}.") for node in imports if (node.module or "").startswith(f"{PACKAGE}.")
    ]
    return whole + parts


def script(program: str, params: dict[str, Any], *, check: bool) -> str:
    """Return the Python text that runs a program on a host and prints its result as JSON."""
    request = {"program": program, "params": params, "check": check}
    return LOADER.format(payload=json.dumps([_sources(program), PACKAGE, request]))


class HostAction(ActionBase):  # type: ignore[misc]  # Ansible carries no types
    """An action that runs one program on the host; a subclass says which, and which options it takes."""

    PROGRAM: ClassVar[str]
    OPTIONS: ClassVar[dict[str, Any]]
    _supports_check_mode = True
    _supports_async = False
    _supports_diff = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Check the options, run the program, and return its result."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _checked, params = self.validate_argument_spec(argument_spec=self.OPTIONS)
        interpreter = str((task_vars or {}).get("ansible_python_interpreter", "/usr/bin/python3"))
        text = script(self.PROGRAM, params, check=bool(self._task.check_mode))
        done = self._low_level_execute_command(f"{interpreter} -I -S -", in_data=text.encode())
        return result | _answer(done)


def _answer(done: dict[str, Any]) -> dict[str, Any]:
    """Return the program's result, or what the host said instead of one."""
    lines = done["stdout"].strip().splitlines()
    if done["rc"] == 0 and lines:
        answer: dict[str, Any] = json.loads(lines[-1])
        return answer
    said = " | ".join((done["stderr"].strip().splitlines() or lines or ["no output"])[-LAST_LINES:])
    return {"failed": True, "msg": f"the host's Python ended with {done['rc']}: {said}"}
