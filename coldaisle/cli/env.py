"""`coldaisle env`: the environment in which Pulumi runs for a stack, for a shell or for one command."""

from __future__ import annotations

import os
import shlex
from typing import Annotated

import typer

Stack = Annotated[str, typer.Argument(metavar="STACK", help="A stack of stacks/, such as sim.")]
Command = Annotated[list[str] | None, typer.Argument(metavar="[COMMAND ...]", help="A command to run in it.")]


def env(stack: Stack, command: Command = None) -> None:
    """
    Run a command where Pulumi finds its tools and its state, or print that environment for a shell.

    What is set already stays as it is: PULUMI_BACKEND_URL, PULUMI_CONFIG_PASSPHRASE, PULUMI_HOME.

    Exit status: that of the command; 0 when the environment is printed.

    Example: eval "$(coldaisle env sim)"; coldaisle env sim -- pulumi stack output --stack sim
    """
    from coldaisle.toolchain.environment import settings  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.toolchain.errors import SetupError  # noqa: PLC0415
    from coldaisle.toolchain.site import replace_process  # noqa: PLC0415

    if command:
        try:
            replace_process(command, stack)
        except SetupError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(error.exit_code) from None
    for name, value in settings(stack, os.environ).items():
        typer.echo(f"export {name}={shlex.quote(value)}")
