"""`coldaisle cabling`: a site's cabling pack, to print, to stick on and to read in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import Site, print_problems
from coldaisle.units import counted

Folder = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where the files go; it is made.")]


def cabling(site: Site, *, output: Folder) -> None:
    """
    Write a site's cabling pack: a page a rack and a page a device, labels, and the cables for other programs.

    Pages are HTML to print, labels a PDF sheet with QR codes and CSV for a label printer; topology.dot is for PTM,
    netbox-cables.csv for NetBox. Every file names the hash of the plan, and the same site gives the same files.

    Exit status: 0 clean, 1 a file cannot be written, 2 the spec cannot be used, 4 a check found an error (the pack is
    written all the same).

    Example: coldaisle cabling h100-pod --output build/cabling
    """
    from coldaisle.check import open_site  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.render.cabling import cabling_pack  # noqa: PLC0415
    from coldaisle.spec import site_folder  # noqa: PLC0415

    checked = open_site(site_folder(site))
    count = 0
    try:
        for name, content in cabling_pack(checked.spec, checked.plan):
            path = output / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            count += 1
    except OSError as error:
        typer.echo(f"{output} cannot be written: {error.strerror}. Name a folder that can.", err=True)
        raise typer.Exit(ExitCode.OUR_FAULT) from None
    typer.echo(f"{counted(count, 'file')} in {output}; begin with {output / 'index.html'}")
    print_problems(checked.findings, err=True)
    raise typer.Exit(ExitCode.CHECK_FAILED if checked.errors else ExitCode.CLEAN)
