"""`coldaisle drift`: the real site against its plan, without changing either."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, print_json

if TYPE_CHECKING:
    from coldaisle.drift.report import Report

IGNORE_FILE = "drift/ignore.yaml"
"""Known drift, in the site's folder; in a folder of its own, since files beside the spec are sections of it."""

NO_CHANGES, NO_STACK, EXPECTED_NONE = 0, 6, 7
"""Exit codes of `pulumi preview --expect-no-changes`: none, no such stack, and some. All others are failures."""

Site = Annotated[str, typer.Argument(metavar="[SITE]", help="The site; also the stack, without --stack.")]
Stack = Annotated[str | None, typer.Option("--stack", help="The stack, where it is not named as the site.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown for a pull request.")]
Junit = Annotated[bool, typer.Option("--junit", help="Print JUnit XML.")]
Detailed = Annotated[bool, typer.Option("--detailed-exitcode", help="Exit 0, 1 or 2 as Terraform does.")]


def drift(  # noqa: PLR0913 - options of a command
    site: Site = "sim",
    *,
    stack: Stack = None,
    as_json: AsJson = False,
    markdown: Markdown = False,
    junit: Junit = False,
    detailed_exitcode: Detailed = False,
) -> None:
    """
    Ask every host, BMC and the cluster, and compare what they say with the plan. Changes nothing, the state included.

    Nodes in maintenance or repair (coldaisle node) are in the report and do not count; a retired one that is on does.
    Drift that is known is listed in drift/ignore.yaml of the site's folder, each entry with a reason and a last day.

    Exit status: 0 as planned, 1 the comparison failed, 2 wrong usage, 3 something did not answer, 5 drift or changes.
    With --detailed-exitcode: 0 as planned, 1 failed or not known, 2 drift or changes.

    Example: coldaisle drift sim --markdown > comment.md
    """
    from coldaisle.drift import ignore  # noqa: PLC0415 - keeps the start of other commands light

    try:
        known = ignore.parse(*_ignore_entries(site))
    except ignore.IgnoreFileError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(ExitCode.INVALID) from None
    taken_at = datetime.now(UTC)
    found = _with_ages(_preview(stack or Path(site).name, taken_at), Path(site).name)
    report = ignore.apply(_with_life(found, site), known, taken_at.date())
    _print(report, as_json=as_json, markdown=markdown, junit=junit)
    code = exit_code(report)
    raise typer.Exit(terraform_code(code) if detailed_exitcode else code)


def _ignore_entries(site: str) -> tuple[Any, str]:
    from coldaisle.paths import shown  # noqa: PLC0415
    from coldaisle.spec import site_folder  # noqa: PLC0415

    file = site_folder(site) / IGNORE_FILE
    if not file.is_file():
        return [], str(file)
    import yaml  # noqa: PLC0415 - only where there is such a file

    return yaml.safe_load(file.read_text(encoding="utf-8")) or [], shown(file)


def _preview(stack: str, taken_at: datetime) -> Report:
    """Run the engine's preview with refresh, which writes no state, and take its report."""
    from coldaisle.cli.engine_events import followed  # noqa: PLC0415
    from coldaisle.cli.progress import progress  # noqa: PLC0415
    from coldaisle.drift.preview import report_of  # noqa: PLC0415
    from coldaisle.drift.report import Report  # noqa: PLC0415
    from coldaisle.toolchain.environment import environment  # noqa: PLC0415

    asked = taken_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    command = ["pulumi", "preview", "--refresh", "--json", "--expect-no-changes", "--show-sames"]
    command += ["--non-interactive", "--stack", stack]
    try:
        with progress("comparing the site with its plan") as say, followed(say) as (options, settings):
            told = environment(stack) | settings
            done = subprocess.run([*command, *options], env=told, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        why = "there is no pulumi on PATH\n  fix: run 'make up', or install Pulumi; see also 'coldaisle doctor'"
        return Report(stack=stack, taken_at=asked, items=(), same={}, errors=(why,))
    try:
        preview = json.loads(done.stdout)
    except ValueError:
        preview = {}
    report = report_of(preview, stack, asked)
    return report if done.returncode in (NO_CHANGES, EXPECTED_NONE) else _failed(report, done)


def _with_life(report: Report, site: str) -> Report:
    """Mark what is found on nodes that somebody works on, and look at those that are retired."""
    from coldaisle.spec import site_folder  # noqa: PLC0415
    from coldaisle.words import JOURNAL_FILE  # noqa: PLC0415

    folder = site_folder(site)
    if not (folder / JOURNAL_FILE).is_file():
        return report
    from coldaisle.cli.drift_life import with_life  # noqa: PLC0415 - only where nodes have a life

    return with_life(report, folder)


def _with_ages(report: Report, site: str) -> Report:
    """Add to a report when each host last told something, which whoever asked them has written down."""
    from dataclasses import replace  # noqa: PLC0415

    from coldaisle.drift.ages import read_at  # noqa: PLC0415
    from coldaisle.paths import state_dir  # noqa: PLC0415

    return replace(report, as_of=read_at(state_dir(site)))


def _failed(report: Report, done: subprocess.CompletedProcess[str]) -> Report:
    """A preview that failed is an error of the report, unless its items already say what could not be told."""
    from dataclasses import replace  # noqa: PLC0415

    if report.errors or report.of_kind("could-not-tell"):
        return report
    said = done.stderr.strip() or done.stdout.strip()[-2000:]
    if done.returncode == NO_STACK:
        said += "\n  fix: bring the site up first (make up), or name its stack with --stack"
    return replace(report, errors=(f"pulumi preview failed (exit code {done.returncode}): {said}",))


def _print(report: Report, *, as_json: bool, markdown: bool, junit: bool) -> None:
    from coldaisle.drift import formats  # noqa: PLC0415

    if as_json:
        print_json(formats.as_json(report))
    elif markdown:
        typer.echo(formats.as_markdown(report), nl=False)
    elif junit:
        typer.echo(formats.as_junit(report))
    else:
        typer.echo(formats.as_text(report))


def exit_code(report: Report) -> ExitCode:
    """Return the exit status: a failure first, then drift, then what could not be told."""
    if report.errors:
        return ExitCode.OUR_FAULT
    if report.of_kind("drifted") or report.of_kind("pending"):
        return ExitCode.CHANGED
    return ExitCode.COULD_NOT_TELL if report.of_kind("could-not-tell") else ExitCode.CLEAN


def terraform_code(code: ExitCode) -> int:
    """Return the exit status in Terraform's way."""
    return {ExitCode.CLEAN: 0, ExitCode.CHANGED: 2}.get(code, 1)
