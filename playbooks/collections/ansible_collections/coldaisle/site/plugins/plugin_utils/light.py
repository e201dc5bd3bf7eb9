"""
Running a small program on a host without AnsiballZ.

Ansible's own way ships module_utils as a zip and compiles `basic` and what it imports in every task: some ten CPU
seconds on an emulated host. Here the host gets the few modules of ours that a task needs, and standard Python only.
"""

from __future__ import annotations

import ast
import json
import marshal
import zlib
from base64 import b64encode
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any, ClassVar

from ansible.plugins.action import ActionBase
from ansible_collections.coldaisle.site.plugins.module_utils.facts import KINDS_OF

PACKAGE = "ansible_collections.coldaisle.site.plugins.module_utils"
MODULES = Path(__file__).parents[1] / "module_utils"

LOADER = """
import sys, zlib
from binascii import a2b_base64
from importlib import import_module
from importlib._bootstrap_external import MAGIC_NUMBER
from importlib.machinery import ModuleSpec
import json
PACKAGE, REQUEST = json.loads({request!r})
if MAGIC_NUMBER.hex() == {magic!r}:
    import marshal
    CODES = marshal.loads(zlib.decompress(a2b_base64({codes!r})))
else:
    CODES = json.loads(zlib.decompress(a2b_base64({sources!r})))
class Loader:
    def find_spec(self, name, path=None, target=None):
        if (PACKAGE + ".").startswith(name + "."):
            return ModuleSpec(name, self, is_package=True)
        if name.startswith(PACKAGE + ".") and name[len(PACKAGE) + 1:] in CODES:
            return ModuleSpec(name, self)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        code = CODES.get(module.__name__.rpartition(".")[2], "")
        exec(compile(code, module.__name__, "exec") if isinstance(code, str) else code, module.__dict__)
sys.meta_path.insert(0, Loader())
program = import_module(PACKAGE + ".run_" + REQUEST["program"])
print(json.dumps(program.run(REQUEST["params"], check=REQUEST["check"])))
"""
"""
The program that the host's Python reads from its standard input. It has our modules twice: compiled, for a Python like
this one, which saves that host half of the work, and as text for any other.
"""

LAST_LINES = 3


@cache
def sources(program: str) -> dict[str, str]:
    """Return the sources of a program and of every module of ours that it imports, by name."""
    found: dict[str, str] = {}
    wanted = [f"run_{program}"]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = (MODULES / f"{name}.py").read_text(encoding="utf-8")
            wanted += _imported(found[name])
            wanted += KINDS_OF if name == "facts" else []  # it loads a module when it is asked for one of its kinds
    return found


def _imported(source: str) -> list[str]:
    """Return the modules of ours that a source imports, wherever in it."""
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.module]
    whole = [alias.name for node in imports if node.module == PACKAGE for alias in node.names]
    parts = [str(node.module).rpartition(f"{PACKAGE}.")[2] for node in imports if f"{PACKAGE}." in str(node.module)]
    return whole + parts


@cache
def packed(program: str) -> dict[str, str]:
    """Return a program with its modules as the loader takes them: compiled, by which Python, and as text."""
    texts = sources(program)
    codes = {name: compile(text, f"{PACKAGE}.{name}", "exec", dont_inherit=True) for name, text in texts.items()}
    forms = {"codes": marshal.dumps(codes), "sources": json.dumps(texts).encode()}
    return {name: b64encode(zlib.compress(data)).decode() for name, data in forms.items()} | {
        "magic": MAGIC_NUMBER.hex()
    }


def script(program: str, params: dict[str, Any], *, check: bool) -> str:
    """Return the Python text that runs a program on a host and prints its result as JSON."""
    request = {"program": program, "params": params, "check": check}
    return LOADER.format(request=json.dumps([PACKAGE, request]), **packed(program))


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
        packed(cls.PROGRAM)

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Check the options, run the program, and return its result."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _checked, params = self.validate_argument_spec(argument_spec=self.OPTIONS)
        return result | self.on_host(params, task_vars)

    def on_host(self, params: dict[str, Any], task_vars: dict[str, Any] | None) -> dict[str, Any]:
        """Run the program with its parameters, and return its result."""
        interpreter = str((task_vars or {}).get("ansible_python_interpreter", "/usr/bin/python3"))
        text = script(self.PROGRAM, params, check=bool(self._task.check_mode))
        done = self._low_level_execute_command(f"{interpreter} -I -S -", in_data=text.encode())
        return _answer(done)


def _answer(done: dict[str, Any]) -> dict[str, Any]:
    """Return the program's result, or what the host said instead of one."""
    lines = done["stdout"].strip().splitlines()
    if done["rc"] == 0 and lines:
        answer: dict[str, Any] = json.loads(lines[-1])
        return answer
    said = " | ".join((done["stderr"].strip().splitlines() or lines or ["no output"])[-LAST_LINES:])
    return {"failed": True, "msg": f"the host's Python ended with {done['rc']}: {said}"}
