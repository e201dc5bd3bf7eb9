"""
What the Makefile calls: `python3 -m coldaisle.toolchain COMMAND`.

    up                        install what is missing, start the simulated site, pulumi up
    down                      remove every trace of the simulated site
    install                   install what is missing: packages, virtual environment, tools
    python                    Debian packages and virtual environment only
    tools                     the tools only
    env STACK [COMMAND ...]   run a command in the environment of a stack, or print that for `eval`
    preview STACK             pulumi preview
    check [NAME ...]          linters, types, layers
    bench [NAME]              figures, a `name value` line each
    accept                    rewrite the expected files of tests/cases
    test [ARGUMENT ...]       all tests, with the simulated site brought up first where it is not
    doctor [--json]           what is there, what is missing, what that costs
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from typing import TYPE_CHECKING

from coldaisle.toolchain import builder, checks, debian, doctor, pins, rings, site, tools, venv
from coldaisle.toolchain.environment import settings
from coldaisle.toolchain.errors import FAULT, LACKING, USAGE, SetupError
from coldaisle.toolchain.locks import one_at_a_time
from coldaisle.toolchain.places import cache_dir
from coldaisle.toolchain.store import store

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130


def main(arguments: list[str]) -> int:
    """Run one command and return its exit code; what went wrong is printed without a traceback."""
    if not arguments or arguments[0] not in _COMMANDS:
        sys.stderr.write(__doc__ or "")
        return 0 if arguments[:1] in (["--help"], ["-h"]) else USAGE
    signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        return _COMMANDS[arguments[0]](arguments[1:])
    except SetupError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except (tools.BuildFailedError, site.CommandFailedError) as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code if error.exit_code in {FAULT, LACKING} else FAULT
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; the same command goes on where this one stopped\n")
        return INTERRUPTED


def _as_interrupt(_signal: int, _frame: object) -> None:
    """End on SIGTERM the way ^C does, so that children are ended and half-built files go."""
    raise KeyboardInterrupt


def _up(_arguments: list[str]) -> int:
    site.up()
    return 0


def _down(_arguments: list[str]) -> int:
    site.down()
    return 0


def _install(_arguments: list[str]) -> int:
    started = site.install()
    try:
        started.wait()
    except BaseException:
        started.stop()
        raise
    return 0


def _python(_arguments: list[str]) -> int:
    with one_at_a_time(cache_dir() / "install.lock", "packages"):
        debian.install(debian.missing())
        venv.ensure()
    return 0


def _tools(_arguments: list[str]) -> int:
    started = tools.start()
    try:
        started.wait()
    except BaseException:
        started.stop()
        raise
    for each in tools.relink():
        sys.stdout.write(f"{each.tool.name} {each.version} {each.origin} {each.path or ''}\n")
    return 0


def _build(names: list[str]) -> int:
    """Build the named tools; `tools` and `up` run this as a process beside themselves."""
    known = {each.name: each for each in pins.TOOLS}
    if unknown := [name for name in names if name not in known]:
        sys.stderr.write(f"no such tools: {' '.join(unknown)}; there are {' '.join(known)}\n")
        return USAGE
    builder.build([known[name] for name in names], store())
    return 0


def _env(arguments: list[str]) -> int:
    if not arguments:
        sys.stderr.write("usage: env STACK [COMMAND ...]\n")
        return USAGE
    stack, command = arguments[0], [word for word in arguments[1:] if word != "--"]
    if command:
        site.replace_process(command, stack)
    for name, value in settings(stack, os.environ).items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")
    return 0


def _preview(arguments: list[str]) -> int:
    stack = arguments[0] if arguments else site.SITE
    site.install(site.ENGINE_TOOLS).wait()
    site.select(stack)
    site.replace_process(["pulumi", "preview", "--stack", stack, "--non-interactive", *arguments[1:]], stack)
    return 0


def _test(arguments: list[str]) -> int:
    return rings.run(arguments)


def _check(names: list[str]) -> int:
    _python([])
    return checks.run(names)


def _bench(names: list[str]) -> int:
    site.install(site.ENGINE_TOOLS).wait()
    site.replace_process(["python", "-m", "tests.bench", *names], site.SITE)
    return 0


def _accept(_arguments: list[str]) -> int:
    _python([])
    os.environ["COLDAISLE_ACCEPT"] = "1"
    site.replace_process(["python", "-m", "pytest", "-q", "tests/cases"], site.SITE)
    return 0


def _doctor(arguments: list[str]) -> int:
    checks = doctor.examine()
    report = json.dumps(doctor.to_json(checks), indent=2) if "--json" in arguments else doctor.to_text(checks)
    sys.stdout.write(report + "\n")
    return doctor.exit_code(checks)


_COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "up": _up,
    "down": _down,
    "install": _install,
    "python": _python,
    "tools": _tools,
    "build": _build,
    "env": _env,
    "preview": _preview,
    "check": _check,
    "bench": _bench,
    "accept": _accept,
    "test": _test,
    "doctor": _doctor,
}
