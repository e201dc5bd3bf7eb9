"""`coldaisle plan`: everything that follows from a site's spec, as tables or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_problems, write_whole

if TYPE_CHECKING:
    from coldaisle.check import CheckedSite

Allocate = Annotated[
    bool,
    typer.Option("--allocate", help="Write the addresses handed out to allocations.yaml, so that they stay."),
]

_ALLOCATIONS_HEAD = """\
# Addresses that plans have handed out. `coldaisle plan SITE --allocate` adds to this file and never changes a line;
# remove a line by hand when its node is gone and its address may be given away.
"""


def plan(site: Site, *, as_json: AsJson = False, allocate: Allocate = False) -> None:
    """
    Show everything that follows from a site's spec.

    Racks with their power and cooling, fabrics, pools, endpoints and plays as tables. Nothing is contacted. The JSON
    form is described in docs/plan-json.md; one spec gives one plan, to the byte. What the checks find goes to standard
    error.

    Exit status: 0 clean, 2 the spec cannot be used, 4 a check found an error (the plan is printed all the same).

    Example: coldaisle plan sim --json | jq '.nodes[].management_address'
    """
    from coldaisle.check import open_site  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.plan import json_text  # noqa: PLC0415
    from coldaisle.spec import site_folder  # noqa: PLC0415

    folder = site_folder(site)
    checked = open_site(folder)
    if allocate and checked.errors:
        typer.echo("allocations.yaml was not written: what a plan with errors hands out may be wrong.", err=True)
    elif allocate:
        write_allocations(folder, checked)
        checked = open_site(folder)
    if as_json:
        typer.echo(json_text(checked.plan))
    else:
        from coldaisle.cli.tables import print_plan  # noqa: PLC0415

        print_plan(checked.plan)
    print_problems(checked.findings, err=True)
    raise typer.Exit(ExitCode.CHECK_FAILED if checked.errors else ExitCode.CLEAN)


def write_allocations(folder: Path, checked: CheckedSite) -> None:
    """
    Write what the plan handed out beside what was given before; a reader never sees half of the file.

    Raises:
        typer.Exit: the file cannot be written.
    """
    import yaml  # noqa: PLC0415

    from coldaisle.plan.handed_out import handed_out  # noqa: PLC0415
    from coldaisle.spec.load import ALLOCATIONS_FILE  # noqa: PLC0415

    text = yaml.safe_dump(handed_out(checked.spec, checked.plan), sort_keys=False)
    write_whole(folder / ALLOCATIONS_FILE, _ALLOCATIONS_HEAD + text)
