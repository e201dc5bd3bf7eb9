"""`coldaisle evidence`: what has been signed about a site. It reads, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json

if TYPE_CHECKING:
    from coldaisle.evidence import Kept, Statement, Store

app = typer.Typer(
    help="List, show and verify what was signed about a site.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Subject = Annotated[str | None, typer.Option("--subject", metavar="NAME", help="Only what tells of this node.")]


@app.callback()
def _group() -> None:
    """List, show and verify what was signed about a site."""


@app.command(name="list")
def list_(site: Site, *, subject: Subject = None, as_json: AsJson = False) -> None:
    """
    List a site's evidence, oldest first: when, what, about whom, by whom, and whether it can be believed.

    Exit status: 0 all can be believed, 2 the site names no key, 4 some cannot.

    Example: coldaisle evidence list h100-pod --subject r01-n01
    """
    found = [kept for kept in _store(site).read() if subject is None or _about(kept, subject)]
    if as_json:
        print_json({"schema_version": "1", "site": site, "evidence": [_as_json(kept) for kept in found]})
    else:
        _print_table(found)
    raise typer.Exit(_status(found))


@app.command()
def show(
    site: Site, file: Annotated[str, typer.Argument(metavar="FILE", help="A file, or how its name begins.")]
) -> None:
    """
    Print one statement as JSON, after its signature was verified.

    Exit status: 0 printed, 2 there is no such file, or several, 4 it cannot be believed.

    Example: coldaisle evidence show h100-pod 20261128T161535Z-acceptance-r01-n01
    """
    import json  # noqa: PLC0415 - keeps the start of other commands light

    store = _store(site)
    found = [path for path in store.files() if path.name.startswith(Path(file).name)]
    if len(found) != 1:
        typer.echo(f"{len(found)} files of {store.folder} begin with {file}; coldaisle evidence list {site}", err=True)
        raise typer.Exit(ExitCode.INVALID)
    with _told(ExitCode.CHECK_FAILED):
        print_json(json.loads(store.open(found[0]).payload()))


@app.command()
def verify(
    site: Site,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Files; all when none is named.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """
    Verify signatures: one byte that was changed, a file that was exchanged or a strange key is told.

    Exit status: 0 all can be believed, 2 the site names no key, 3 there is none, 4 some cannot.

    Example: coldaisle evidence verify h100-pod
    """
    store = _store(site)
    found = list(store.read()) if not files else [_opened(store, file) for file in files]
    if as_json:
        print_json({"schema_version": "1", "site": site, "evidence": [_as_json(kept) for kept in found]})
    else:
        for kept in found:
            typer.echo(str(kept.problem) if kept.problem else f"{kept.path}: good")
        typer.echo(f"{len(found)} verified, {sum(kept.problem is not None for kept in found)} cannot be believed")
    raise typer.Exit(_status(found) if found else ExitCode.COULD_NOT_TELL)


@contextmanager
def _told(status: ExitCode) -> Iterator[None]:
    """End with a status and the message of what is wrong, instead of a traceback."""
    from coldaisle.evidence import EvidenceError  # noqa: PLC0415

    try:
        yield
    except EvidenceError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(status) from None


def _store(site: str) -> Store:
    """Return a site's store for reading; the private key is not touched."""
    from coldaisle.evidence import open_store  # noqa: PLC0415
    from coldaisle.spec import load_site, site_folder  # noqa: PLC0415

    with _told(ExitCode.INVALID):
        return open_store(load_site(site_folder(site)), signing=False)


def _opened(store: Store, file: Path) -> Kept:
    from coldaisle.evidence import EvidenceError, Kept  # noqa: PLC0415

    try:
        return Kept(file, store.open(file))
    except EvidenceError as error:
        return Kept(file, None, error)


def _about(kept: Kept, subject: str) -> bool:
    """Return whether a file tells of a subject; one that cannot be believed tells of any."""
    return kept.statement is None or subject in kept.statement.subjects


def _status(found: list[Kept]) -> ExitCode:
    return ExitCode.CHECK_FAILED if any(kept.problem for kept in found) else ExitCode.CLEAN


def _as_json(kept: Kept) -> dict[str, Any]:
    """Return what a file says, or why it cannot be believed, as plain data."""
    if kept.statement is None:
        problem = kept.problem
        return {"file": str(kept.path), "good": False, "what": problem.what if problem else ""}
    said = kept.statement
    head = {"kind": said.kind, "subjects": list(said.subjects), "plan": said.plan_hash, "who": said.who}
    return {"file": str(kept.path), "good": True, **head, "when": said.when.isoformat(), "body": dict(said.body)}


def _print_table(found: list[Kept]) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table("when", "kind", "subjects", "who", "plan", "result", "file", box=None, pad_edge=False)
    for kept in found:
        table.add_row(
            *(_row(kept.statement) if kept.statement else ("-",) * 5 + ("not to be believed",)), kept.path.name
        )
    Console(width=200).print(table)


def _row(said: Statement) -> tuple[str, ...]:
    subjects = ", ".join(said.subjects[:3]) + (f" and {len(said.subjects) - 3} more" if len(said.subjects) > 3 else "")  # noqa: PLR2004 - room in a line
    when = said.when.strftime("%Y-%m-%d %H:%M:%S")
    return when, said.kind, subjects, said.who, said.plan_hash[:12], str(said.body.get("result", "-"))
