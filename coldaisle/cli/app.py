"""The command line. Only the module of the command that is called is imported, so that each starts quickly."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode

COMMANDS = (
    "check", "plan", "place", "explain", "catalog", "pictures", "report", "cabling", "fabric", "verify", "drift",
    "impact", "accept", "evidence", "node", "health", "adopt", "bmc", "schema", "env", "doctor", "sim",
)  # fmt: skip
"""Commands in the order of the help; each is a module of this package."""

GROUPS = ("bmc", "catalog", "evidence", "fabric", "node", "sim", "verify")
"""Commands with commands of their own: their module holds a typer application."""

_HELP = """
Infrastructure as code for GPU datacenters, from an empty floor to models that serve behind an autoscaler.

A site is a folder of YAML files under inventory/. Its plan follows from them; nothing after the plan makes a choice.

Begin with: coldaisle check sim, then coldaisle plan sim.

Exit status of every command: 0 clean, 1 our own fault, 2 usage or invalid spec, 3 could not tell, 4 a check failed,
5 changes or drift.
"""


def _version(value: bool) -> None:  # noqa: FBT001 - how typer calls it
    if value:
        from importlib.metadata import version  # noqa: PLC0415 - slow, and rarely wanted

        typer.echo(f"coldaisle {version('coldaisle')}")
        raise typer.Exit


def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of a failure that is ours.")] = False,
) -> None:
    del version, debug


def build_app(wanted: str | None) -> typer.Typer:
    """Return the application with the wanted command, or with all of them when it is none of ours."""
    app = typer.Typer(help=_HELP, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.callback()(_options)
    for name in (wanted,) if wanted in COMMANDS else COMMANDS:
        module = import_module(f"coldaisle.cli.{name}")
        if name in GROUPS:
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(getattr(module, name))
    return app


def main() -> None:
    """Run the command line; every failure ends with a message and an exit status, never with a traceback."""
    # What stands behind -- belongs to somebody else's command.
    own = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    debug = "--debug" in own
    arguments = [argument for argument in own if argument != "--debug"] + sys.argv[1 + len(own) :]
    wanted = next((argument for argument in arguments if not argument.startswith("-")), None)
    try:
        build_app(wanted)(arguments, prog_name="coldaisle")
    except BrokenPipeError:
        # The reader went away (`| head`); Python would complain again when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.CLEAN)
    except KeyboardInterrupt:
        sys.exit(128 + 2)
    except Exception as error:
        if debug:
            raise
        sys.exit(_told(error))


def _told(error: Exception) -> ExitCode:
    """Print what went wrong, and return the exit status that it stands for."""
    from coldaisle.cli.output import print_problems  # noqa: PLC0415
    from coldaisle.spec.problem import SpecError  # noqa: PLC0415

    if isinstance(error, SpecError):
        print_problems(error.problems, err=True)
        return ExitCode.INVALID
    text = str(error).splitlines()
    typer.echo(f"coldaisle failed, and it is our fault: {type(error).__name__}: {text[0] if text else ''}", err=True)
    typer.echo("Run it again with --debug for the traceback, and report it.", err=True)
    return ExitCode.OUR_FAULT
