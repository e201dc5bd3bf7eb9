"""`coldaisle check`: is a site's spec valid, and does its plan hold?"""

from __future__ import annotations

from typing import Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json, print_problems, problem_json

Strict = Annotated[bool, typer.Option("--strict", help="Count every warning as an error.")]


def check(site: Site, *, as_json: AsJson = False, strict: Strict = False) -> None:
    """
    Load a site's spec, plan it, and run every check.

    Nothing is changed and nothing is contacted. Every problem is told at once, with file, line and column, what is
    wrong, what was found, and how to mend it; docs/errors.md explains each by its id.

    Exit status: 0 clean (warnings are allowed), 2 the spec cannot be used, 4 a check found an error.

    Example: coldaisle check sim
    """
    from coldaisle.check import open_site  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.check import strict as strictly  # noqa: PLC0415
    from coldaisle.spec import SpecError, site_folder  # noqa: PLC0415

    try:
        checked = open_site(site_folder(site))
    except SpecError as error:
        findings, code = error.problems, ExitCode.INVALID
    else:
        findings = strictly(checked.findings) if strict else checked.findings
        failed = any(finding.severity == "error" for finding in findings)
        code = ExitCode.CHECK_FAILED if failed else ExitCode.CLEAN
    if as_json:
        print_json({"schema_version": "1", "site": site, "findings": [problem_json(finding) for finding in findings]})
    else:
        print_problems(findings)
        if code is ExitCode.CLEAN:
            typer.echo(f"{site}: every check passed.")
    raise typer.Exit(code)
