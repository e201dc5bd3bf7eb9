"""
A program of ours in one piece for the Python of a host, and the answer that comes back.

A host gets the few modules that a task needs, and standard Python only. Whoever sends it, an action of Ansible or the
provider's reader, packs it here, so that both run the same code and read its answer alike.
"""

from __future__ import annotations

import json
import marshal
import re
import shlex
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.facts import HOST_KINDS, KINDS_OF

PACKAGE = "ansible_collections.coldaisle.site.plugins.module_utils"
MODULES = Path(__file__).parents[1] / "module_utils"

ARGUMENTS = ("-I", "-S", "-c", "import sys;exec(sys.stdin.buffer.readline())")
"""
What a host's Python is called with: it reads the first line itself, since a program that comes on standard input as a
whole is read slowly by it, and has no place for bytes. Quoted, the last is one word in any login shell.
"""

LOADER = """
import gc, os, sys, zlib
gc.disable()
from importlib import import_module
from importlib._bootstrap_external import MAGIC_NUMBER
from importlib.machinery import ModuleSpec
import json
PACKAGE, REQUEST = json.loads({request!r})
FORMS = sys.stdin.buffer.read()
if MAGIC_NUMBER.hex() == {magic!r}:
    import marshal
    CODES = marshal.loads(zlib.decompress(FORMS[:{size}]))
else:
    CODES = json.loads(zlib.decompress(FORMS[{size}:]))
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
print(json.dumps(program.run(REQUEST["params"], check=REQUEST["check"])), flush=True)
os._exit(0)
"""
"""
The program that ARGUMENTS read, as one line. Behind it come our modules, twice: compiled, for a Python like this one,
which saves that host half of the work, and as text for any other. It lives for a tenth of a second, so that looking for
garbage, and tidying up at its end, would only cost the host.
"""

WHOLE = re.compile(rf"^ *from {re.escape(PACKAGE)} import (\([^)]*\)|.*)", re.MULTILINE)
NAME = re.compile(r"(\w+)(?:\s+as\s+\w+)?")
PARTS = re.compile(rf"^ *from {re.escape(PACKAGE)}\.(\w+) import ", re.MULTILINE)
"""Lines that import modules of ours, one of their names, and lines that import names out of a module."""

ALL = frozenset(KINDS_OF)
"""The modules of all facts that a program may be asked for."""

LAST_LINES, LAST_CHARACTERS = 3, 200
"""What is shown of a host that gives no result."""


def sources(program: str, modules: frozenset[str]) -> dict[str, str]:
    """Return the sources of a program, of modules of facts that it may be asked for, and of all that they import."""
    found: dict[str, str] = {}
    wanted = [f"run_{program}"]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = (MODULES / f"{name}.py").read_text(encoding="utf-8")
            wanted += imported(found[name])
            wanted += modules if name == "facts" else []  # it loads a module when it is asked for one of its kinds
    return found


def imported(source: str) -> list[str]:
    """Return the modules of ours that a source imports, wherever in it; parsing all of them would take a second."""
    whole = [name for names in WHOLE.findall(source) for name in NAME.findall(re.sub("#.*", "", names))]
    return whole + PARTS.findall(source)


@cache
def packed(program: str, modules: frozenset[str]) -> tuple[bytes, bytes]:
    """Return a program with its modules as the loader takes them: compiled by this Python, and as text."""
    texts = sources(program, modules)
    codes = {
        name: compile(text, f"{PACKAGE}.{name}", "exec", dont_inherit=True, optimize=2) for name, text in texts.items()
    }
    return zlib.compress(marshal.dumps(codes)), zlib.compress(json.dumps(texts).encode())


def script(program: str, params: Mapping[str, Any], *, check: bool, kinds: Iterable[str] | None = None) -> bytes:
    """
    Return what a host's Python is sent (see `command`) to run a program and print its result as JSON.

    `kinds` are those of all facts that it will be asked for, where that is known: a host then gets fewer modules.
    """
    request = json.dumps([PACKAGE, {"program": program, "params": params, "check": check}])
    codes, texts = packed(program, ALL if kinds is None else frozenset(HOST_KINDS[kind] for kind in kinds))
    loader = LOADER.format(request=request, magic=MAGIC_NUMBER.hex(), size=len(codes))
    return f"exec({loader!r})\n".encode() + codes + texts


def command(interpreter: str) -> str:
    """Return the command that lets a host's Python run what comes on its standard input."""
    return f"{interpreter} {shlex.join(ARGUMENTS)}"


def answer(code: int, output: str, errors: str) -> dict[str, Any]:
    """Return a program's result out of what its host printed, or what the host said instead of one."""
    lines = output.strip().splitlines()
    if code == 0 and lines:
        try:
            found = json.loads(lines[-1])
        except ValueError:
            found = None
        if isinstance(found, dict):
            return found
        return {
            "failed": True,
            "msg": f"the host answered with something else than a result: {lines[-1][:LAST_CHARACTERS]}",
        }
    said = " | ".join((errors.strip().splitlines() or lines or ["no output"])[-LAST_LINES:])
    return {"failed": True, "msg": f"the host's Python ended with {code}: {said}"}
