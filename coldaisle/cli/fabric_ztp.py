"""`coldaisle fabric ztp`: what a switch needs at its first boot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import Site, print_problems, write_output

Folder = Annotated[Path, typer.Option("--output", "--out", "-o", metavar="DIR", help="Where files go; it is made.")]
Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="Where DIR/http is served, over HTTP or HTTPS; left out, /ztp on the site's provisioning host.",
    ),
]
OneFabric = Annotated[str | None, typer.Option("--fabric", metavar="NAME", help="Only the switches of this fabric.")]


def ztp(site: Site, *, output: Folder, url: Url = None, fabric: OneFabric = None) -> None:
    """
    Write the first boot of each Ethernet switch: a DHCP reservation, a script, and the configuration that it fetches.

    DIR/http holds a script and a configuration a switch, to be served at --url; DIR/dhcp holds reservations for dnsmasq
    and ISC dhcpd, which need the MACs of switch_hardware. A script checks the configuration's SHA-256 before it changes
    anything.

    What could not be written is told on standard error. Nothing is written for a site on which the checks find an
    error.

    Exit status: 0 clean, 1 a file cannot be written, 2 the spec or an option cannot be used, 3 a switch has no script
    or no reservation, 4 a check found an error.

    Example: coldaisle fabric ztp b200-roce --url https://10.32.0.5/ztp --output build/ztp
    """
    from coldaisle.check import open_site  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.render.fabric.ztp import default_url, first_boot  # noqa: PLC0415
    from coldaisle.spec import site_folder  # noqa: PLC0415

    checked = open_site(site_folder(site))
    if checked.errors:
        print_problems(checked.errors, err=True)
        raise typer.Exit(ExitCode.CHECK_FAILED)
    served = url or default_url(checked.plan)
    if served is None:
        _refuse(f"site {checked.plan.name} has no provisioning host: say with --url where the files are served")
    try:
        found = first_boot(checked.plan, str(served), None if fabric is None else (fabric,))
    except (LookupError, ValueError) as error:
        _refuse(str(error.args[0]))
    for name, text in found.files.items():
        write_output(output / name, text)
        typer.echo(str(output / name))
    for note in found.notes:
        typer.echo(note, err=True)
    raise typer.Exit(ExitCode.COULD_NOT_TELL if found.notes else ExitCode.CLEAN)


def _refuse(what: str) -> NoReturn:
    """
    Say what cannot be used.

    Raises:
        typer.Exit: always.
    """
    typer.echo(what, err=True)
    raise typer.Exit(ExitCode.INVALID) from None
