"""What the commands of `coldaisle sim` share: the site's plan, a line with seconds, and errors of the simulation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from coldaisle.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from coldaisle.check import CheckedSite
    from coldaisle.plan.model import SitePlan


def pair(text: str) -> tuple[str, str]:
    """Return NAME and VALUE of NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} has no value; write NAME=VALUE")
    return name, value


def plan_of(site: str) -> SitePlan:
    """Return the plan of a site; one with errors is not simulated."""
    return checked_site(site).plan


def checked_site(site: str) -> CheckedSite:
    """Return a site without errors."""
    from coldaisle.check import open_site  # noqa: PLC0415
    from coldaisle.cli.output import print_problems  # noqa: PLC0415
    from coldaisle.spec import site_folder  # noqa: PLC0415

    checked = open_site(site_folder(site))
    if checked.errors:
        print_problems(checked.errors, err=True)
        raise typer.Exit(ExitCode.CHECK_FAILED)
    return checked


def site_name(site: str) -> str:
    """Return the name of a site; a folder that cannot be read any more has its own name."""
    from coldaisle.spec import SpecError, load_site, site_folder  # noqa: PLC0415

    try:
        return load_site(site_folder(site)).site.name
    except SpecError:
        return Path(site).name


def progress() -> Callable[[str], None]:
    """Return a function that prints a line with the seconds since now."""
    started = time.monotonic()

    def say(line: str) -> None:
        typer.echo(f"[{time.monotonic() - started:6.1f} s] {line}", err=True)

    return say


@contextmanager
def told() -> Iterator[None]:
    """Turn an error of the simulation into its message and exit status 2."""
    from sim.errors import SimError  # noqa: PLC0415

    try:
        yield
    except SimError as error:
        typer.echo(error, err=True)
        raise typer.Exit(ExitCode.INVALID) from error
