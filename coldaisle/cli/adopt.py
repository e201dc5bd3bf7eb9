"""`coldaisle adopt`: an existing site as a spec, from what its tools tell of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, print_json, print_problems, problem_json

if TYPE_CHECKING:
    from coldaisle.adopt.outcome import Outcome

Folder = Annotated[
    str,
    typer.Argument(metavar="FOLDER", help="The site's folder: a name under inventory/, or a path. It may be new."),
]
From = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="SOURCE=PATH",
        help="What a tool tells: netbox, maas, kayobe, deepops, redfish, ssh, lldp, kubernetes, and a file or folder.",
    ),
]


Ask = Annotated[
    Path | None,
    typer.Option(
        "--live",
        metavar="FILE",
        help="Sources to ask now: BMCs by Redfish, hosts and switches by SSH, a cluster, NetBox (docs/adopt.md).",
    ),
]
Keep = Annotated[
    Path | None,
    typer.Option("--keep", metavar="DIR", help="Keep what live sources told, to be read again with --from."),
]


def adopt(
    folder: Folder, *, sources: From = None, live: Ask = None, keep: Keep = None, as_json: AsJson = False
) -> None:
    """
    Bring an existing site under management: write its spec from what its tools tell, and say what they do not.

    A new folder gets a file a section, allocations.yaml with every address and port as it is, and unknown.md with what
    could not be known. A folder that holds a spec is compared with the sources, and nothing in it is changed. Without
    --live it contacts nobody; with it, whoever the file names is asked, and nothing there is changed. Who does not
    answer is named with what could not be known.

    Exit status: 0 the spec is whole and the plan is what the sources say, 2 a source or the spec cannot be used, 3 the
    spec lacks what no source knows or somebody did not answer, 4 sources have things twice or contradict each other
    beyond a choice, 5 the plan differs from the sources.

    Example: coldaisle adopt ord1 --live sources.yaml --from netbox=export/
    """
    from coldaisle.adopt.outcome import estate_of, existing_spec, new_spec, with_untold  # noqa: PLC0415 - a light start
    from coldaisle.cli.adopt_sources import read_all  # noqa: PLC0415
    from coldaisle.cli.adopt_tables import print_outcome  # noqa: PLC0415
    from coldaisle.spec import load_site  # noqa: PLC0415
    from coldaisle.spec.load import site_catalog  # noqa: PLC0415

    place = _place(folder)
    there = (place / "site.yaml").is_file()
    told = read_all(sources or ())
    if live is not None:
        from coldaisle.cli.adopt_live import ask_all  # noqa: PLC0415 - the libraries of what is asked

        ask_all(live, told, keep)
    if not told.sources:
        typer.echo("nothing says what to read: give --live FILE, or --from SOURCE=PATH", err=True)
        raise typer.Exit(ExitCode.INVALID)
    if there:
        spec = load_site(place)
        outcome = existing_spec(estate_of(told.readings, told.sightings, spec.catalog), spec)
    else:
        estate = estate_of(told.readings, told.sightings, site_catalog(place))
        outcome = new_spec(estate, place.name, sorted(told.sources))
    outcome = with_untold(outcome, told.untold)
    written = _written(place, outcome) if outcome.files else []
    if as_json:
        body = {"folder": str(place), "new": not there, "written": written, **outcome.as_json()}
        print_json({"schema_version": "1", **body, "problems": [problem_json(each) for each in outcome.problems]})
    else:
        print_outcome(outcome, place, written)
    print_problems(outcome.problems, err=True)
    raise typer.Exit(exit_code(outcome))


def exit_code(outcome: Outcome) -> ExitCode:
    """Return the exit status: sources that cannot be used first, then what differs, then what is not known."""
    if any(each.check == "adopt-unreadable" for each in outcome.problems):
        return ExitCode.INVALID
    if outcome.problems:
        return ExitCode.CHECK_FAILED
    if outcome.differences:
        return ExitCode.CHANGED
    lacks = outcome.unplanned or any(each.gap.required for each in outcome.unknowns)
    return ExitCode.COULD_NOT_TELL if lacks else ExitCode.CLEAN


def _place(folder: str) -> Path:
    """Return the folder of a site: below inventory/ for a bare name, which need not be there yet."""
    from coldaisle.spec import site_folder  # noqa: PLC0415

    found = site_folder(folder)
    bare = len(Path(folder).parts) == 1 and not found.is_dir()
    return Path("inventory") / folder if bare and Path("inventory").is_dir() else found


def _written(place: Path, outcome: Outcome) -> list[str]:
    """
    Write a new spec, site.yaml last: a folder without it is not a site yet, and is adopted anew.

    Raises:
        typer.Exit: a file is there already, or cannot be written.
    """
    from coldaisle.adopt.write import unknown_text  # noqa: PLC0415
    from coldaisle.cli.output import write_output  # noqa: PLC0415

    texts = {**outcome.files, "unknown.md": unknown_text(outcome.unknowns)}
    taken = sorted(name for name in texts if (place / name).exists())
    if taken:
        fix = "move it away, or adopt into another folder."
        typer.echo(f"{', '.join(taken)} is in {place} already, and site.yaml is not: {fix}", err=True)
        raise typer.Exit(ExitCode.INVALID)
    order = sorted(texts, key=lambda name: (name == "site.yaml", name))
    for name in order:
        write_output(place / name, texts[name])
    return order
