"""`coldaisle doctor`: what is on this machine, what is missing, and what each missing thing costs."""

from __future__ import annotations

import typer

from coldaisle.cli.output import AsJson, print_json


def doctor(*, as_json: AsJson = False) -> None:
    """
    Say what is on this machine, what is missing, what each missing thing costs, and how to get it.

    Nothing is changed and nothing is contacted. Put its JSON into a bug report.

    Exit status: 0 all there, or `make up` can make it; 4 something is missing that only the machine's owner can give.

    Example: coldaisle doctor --json
    """
    from coldaisle.toolchain import doctor as examination  # noqa: PLC0415 - keeps the start of other commands light

    checks = examination.examine()
    if as_json:
        print_json(examination.to_json(checks))
    else:
        typer.echo(examination.to_text(checks))
    raise typer.Exit(examination.exit_code(checks))
