"""`coldaisle fabric bom|ports|addresses`: what to order, what is plugged where, and which address is whose."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json, print_problems

if TYPE_CHECKING:
    from coldaisle.check import CheckedSite
    from coldaisle.render.fabric.listing import Listing

OneFabric = Annotated[str | None, typer.Option("--fabric", metavar="NAME", help="Only this fabric.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV with a head instead of text for people.")]
Spares = Annotated[
    float,
    typer.Option(
        "--spares", metavar="PERCENT", min=0, max=100, help="Spares of each line in percent of it, rounded up; 0: none."
    ),
]


def bom(
    site: Site, *, fabric: OneFabric = None, spares: Spares = 0.0, as_csv: AsCsv = False, as_json: AsJson = False
) -> None:
    """
    Show what to order: switches, cables by rate and length, and transceivers where fibre is laid.

    A line names every entry of the catalog that carries the rate over the length, and chooses none. With --spares each
    line gets so many percent more, rounded up, so that 2 % of 10 is 1.

    Exit status: 0 clean, 2 the spec or an option cannot be used, 4 a check found an error (printed all the same).

    Example: coldaisle fabric bom h100-pod --fabric compute --spares 2 --csv
    """
    from coldaisle.render.fabric.bom import bill_of_materials  # noqa: PLC0415 - keeps the start of other commands light

    _show(site, lambda one: bill_of_materials(one.spec, one.plan, fabric, spares), as_csv=as_csv, as_json=as_json)


def ports(site: Site, *, fabric: OneFabric = None, as_csv: AsCsv = False, as_json: AsJson = False) -> None:
    """
    Show the port map of each switch: every port, free or used, with the device and port at the other end.

    Exit status: 0 clean, 2 the spec or an option cannot be used, 4 a check found an error (printed all the same).

    Example: coldaisle fabric ports b200-roce --fabric compute
    """
    from coldaisle.render.fabric.ports import port_map  # noqa: PLC0415

    _show(site, lambda one: port_map(one.spec, one.plan, fabric), as_csv=as_csv, as_json=as_json)


def addresses(site: Site, *, fabric: OneFabric = None, as_csv: AsCsv = False, as_json: AsJson = False) -> None:
    """
    Show every address by device and port: loopbacks, management, links with their other end, nodes and BMCs.

    Exit status: 0 clean, 2 the spec or an option cannot be used, 4 a check found an error (printed all the same).

    Example: coldaisle fabric addresses sim --json
    """
    from coldaisle.render.fabric.addresses import address_table  # noqa: PLC0415

    _show(site, lambda one: address_table(one.plan, fabric), as_csv=as_csv, as_json=as_json)


def _show(site: str, listing: Callable[[CheckedSite], Listing], *, as_csv: bool, as_json: bool) -> None:
    """
    Print a listing of a site in one of three forms, and end with the exit status of the checks.

    Raises:
        typer.Exit: always.
    """
    from coldaisle.check import open_site  # noqa: PLC0415
    from coldaisle.spec import site_folder  # noqa: PLC0415

    if as_csv and as_json:
        typer.echo("--csv and --json exclude each other: choose one.", err=True)
        raise typer.Exit(ExitCode.INVALID)
    checked = open_site(site_folder(site))
    try:
        found = listing(checked)
    except LookupError as error:
        typer.echo(str(error.args[0]), err=True)
        raise typer.Exit(ExitCode.INVALID) from None
    if as_json:
        print_json(found.as_json())
    elif as_csv:
        typer.echo(found.csv(), nl=False)
    else:
        print_listing(found)
    print_problems(checked.errors, err=True)
    raise typer.Exit(ExitCode.CHECK_FAILED if checked.errors else ExitCode.CLEAN)


def print_listing(listing: Listing) -> None:
    """Print a listing as a table, or as one for each group of rows; the last line names the plan."""
    from itertools import groupby  # noqa: PLC0415

    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    from coldaisle.render.fabric.listing import shown  # noqa: PLC0415

    console = Console()
    skip = 1 if listing.grouped else 0
    for title, rows in groupby(listing.rows, key=lambda row: row[0] if listing.grouped else None):
        table = Table(title=shown(title) if listing.grouped else None, title_justify="left", header_style="bold")
        for column in listing.columns[skip:]:
            table.add_column(column.replace("_", " "), overflow="fold")
        for row in rows:
            table.add_row(*(shown(cell) for cell in row[skip:]))
        console.print(table)
    console.print(f"site {listing.site}, plan {listing.digest}", highlight=False, soft_wrap=True)
