"""What all commands print alike: problems, a closing line, JSON; and the argument that names a site."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.files import write_whole

if TYPE_CHECKING:
    from coldaisle.spec.problem import Problem


def complete_site(incomplete: str) -> list[str]:
    """Return the sites below inventory/ whose names begin with what was typed."""
    return sorted(file.parent.name for file in Path("inventory").glob(f"{incomplete}*/site.yaml"))


Site = Annotated[
    str,
    typer.Argument(
        metavar="SITE",
        help="A site: a folder under inventory/ by its name, or the path of any folder.",
        autocompletion=complete_site,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text for people.")]


def print_problems(problems: Sequence[Problem], *, err: bool = False) -> None:
    """Print problems or findings in their common form, with a closing line that counts them."""
    from coldaisle.check.report import report  # noqa: PLC0415 - keeps the start of other commands light

    if problems:
        typer.echo(report(problems), err=err)


def problem_json(problem: Problem) -> dict[str, str]:
    """Return a problem as a JSON object."""
    keys = ("check", "severity", "where", "path", "what", "have", "fix")
    return {key: getattr(problem, key) for key in keys}


def print_json(value: Any) -> None:  # noqa: ANN401 - anything that JSON holds
    """Print a value as indented JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def write_output(path: Path, text: str) -> None:
    """
    Write a file so that a reader never sees half of it, and make its folder; what was there stays when that fails.

    Raises:
        typer.Exit: the file cannot be written; the message says why.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        said = f"{path} cannot be written: {error.strerror}. Make room there, or name a file in a writable folder."
        typer.echo(said, err=True)
        raise typer.Exit(ExitCode.OUR_FAULT) from None
