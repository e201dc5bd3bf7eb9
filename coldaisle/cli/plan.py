"""`coldaisle plan`: everything that follows from a site's spec, as tables or as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json, print_problems, write_output

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


Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="OLD",
        help="Print only the budgets that differ from an older plan: a file of `plan --json`, or a spec's folder.",
    ),
]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="With --against: Markdown for a pull request.")]


def plan(
    site: Site,
    *,
    as_json: AsJson = False,
    allocate: Allocate = False,
    against: Against = None,
    as_markdown: AsMarkdown = False,
) -> None:
    """
    Show everything that follows from a site's spec.

    Racks with their power and cooling, fabrics, pools, endpoints and plays as tables. Nothing is contacted. The JSON
    form is described in docs/plan-json.md; one spec gives one plan, to the byte. What the checks find goes to standard
    error.

    With --against, only what a change of the spec does to the budgets of feeds, of the power chain, of cooling and of
    racks is printed, before and after.

    Exit status: 0 clean, 2 the spec cannot be used, 4 a check found an error (the plan is printed all the same), 5 with
    --against, when a budget differs.

    Example: coldaisle plan sim --json | jq '.nodes[].management_address'
    """
    from coldaisle.check import open_site  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.plan import json_text  # noqa: PLC0415
    from coldaisle.spec import site_folder  # noqa: PLC0415

    if as_markdown and against is None:
        typer.echo("--markdown shows a change: say with --against what to compare with.", err=True)
        raise typer.Exit(ExitCode.INVALID)
    folder = site_folder(site)
    checked = open_site(folder)
    if allocate and checked.errors:
        typer.echo("allocations.yaml was not written: what a plan with errors hands out may be wrong.", err=True)
    elif allocate:
        write_allocations(folder, checked)
        checked = open_site(folder)
    if against is not None:
        code = print_changes(checked, against, as_json=as_json, as_markdown=as_markdown)
        print_problems(checked.findings, err=True)
        raise typer.Exit(ExitCode.CHECK_FAILED if checked.errors else code)
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
    write_output(folder / ALLOCATIONS_FILE, _ALLOCATIONS_HEAD + text)


def print_changes(checked: CheckedSite, against: Path, *, as_json: bool, as_markdown: bool) -> ExitCode:
    """Print which budgets differ from an older plan, and return 5 when any does."""
    from coldaisle.plan.budgets import budgets, changes, facility_json  # noqa: PLC0415
    from coldaisle.render import changes as shown  # noqa: PLC0415

    before = budgets(checked.plan.name, old_facility(against))
    found = changes(before, budgets(checked.plan.name, facility_json(checked.plan.facility)))
    if as_json:
        site, old = checked.plan.name, str(against)
        print_json({"schema_version": "1", "site": site, "against": old, "changes": shown.as_json(found)})
    elif as_markdown:
        typer.echo(shown.as_markdown(f"{checked.plan.name} against {against}", found), nl=False)
    else:
        from coldaisle.cli.tables import print_changes as print_table  # noqa: PLC0415

        print_table(found)
    return ExitCode.CHANGED if found else ExitCode.CLEAN


def old_facility(path: Path) -> dict[str, Any]:
    """
    Return the facility of an older plan in its JSON form: from a file of `plan --json`, or from a spec's folder.

    Raises:
        SpecError: the folder's spec cannot be used.
        typer.Exit: the file is no plan.
    """
    from coldaisle.plan import plan_site  # noqa: PLC0415
    from coldaisle.plan.budgets import facility_json  # noqa: PLC0415
    from coldaisle.plan.model import SCHEMA_VERSION  # noqa: PLC0415
    from coldaisle.spec import load_site  # noqa: PLC0415

    if path.is_dir():
        return facility_json(plan_site(load_site(path)).facility)
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
        if old["schema_version"] == SCHEMA_VERSION and isinstance(old["facility"]["racks"], list):
            facility: dict[str, Any] = old["facility"]
            return facility
        reason = f"its schema version is {old['schema_version']}, and this is {SCHEMA_VERSION}"
    except OSError as error:
        reason = error.strerror or str(error)
    except (ValueError, KeyError, TypeError):
        reason = "it does not hold the JSON of a plan"
    typer.echo(
        f"{path} is no plan to compare with: {reason}. Name a file that plan --json wrote, or a folder.", err=True
    )
    raise typer.Exit(ExitCode.INVALID)
