"""`coldaisle pictures`: a site's racks, rows, halls, power chain, cooling and fabrics as SVG files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import Site

Folder = Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go; it is made.")]


def pictures(site: Site, *, output: Folder) -> None:
    """
    Draw a site as self-contained SVG: its racks from both sides, its halls and rows, power chain, cooling and fabrics.

    The same site gives the same files, to the byte.

    Exit status: 0 clean, 1 a file cannot be written, 2 the spec cannot be used.

    Example: coldaisle pictures h100-pod --output build/pictures
    """
    from coldaisle.check import open_site  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.render.pictures import pictures as drawn  # noqa: PLC0415
    from coldaisle.spec import site_folder  # noqa: PLC0415

    checked = open_site(site_folder(site))
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name, svg in drawn(checked.spec, checked.plan).items():
            path = output / f"{re.sub(r'[^a-z0-9-]+', '_', name)}.svg"
            path.write_text(svg, encoding="utf-8")
            typer.echo(str(path))
    except OSError as error:
        typer.echo(f"{output} cannot be written: {error.strerror}. Name a folder that can.", err=True)
        raise typer.Exit(ExitCode.OUR_FAULT) from None
