"""`coldaisle report`: a site as one HTML file to hand over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import Site, print_problems, write_output

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The HTML file; it is made anew.")]


def report(site: Site, *, output: Output) -> None:
    """
    Write a site's report: what stands where, how full it is, what the checks found, and where each number comes from.

    The file needs no network: style and pictures are in it. The same site gives the same file, to the byte. What the
    checks find is in the report, and goes to standard error too.

    Exit status: 0 clean, 1 the file cannot be written, 2 the spec cannot be used, 4 a check found an error (the report
    is written all the same).

    Example: coldaisle report h100-pod --output build/h100-pod.html
    """
    from coldaisle.check import open_site  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.render.report import site_report  # noqa: PLC0415
    from coldaisle.spec import site_folder  # noqa: PLC0415

    checked = open_site(site_folder(site))
    write_output(output, site_report(checked.spec, checked.plan, checked.findings))
    typer.echo(str(output))
    print_problems(checked.findings, err=True)
    raise typer.Exit(ExitCode.CHECK_FAILED if checked.errors else ExitCode.CLEAN)
