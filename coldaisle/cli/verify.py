"""`coldaisle verify`: what was built against the plan. `verify cabling` compares the cables that devices see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json

if TYPE_CHECKING:
    from coldaisle.verify import Answer, CablingReport, Wanted

app = typer.Typer(
    help="Compare what was built with the plan.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Device = Annotated[str | None, typer.Option("--device", metavar="D", help="Only the cables of this device.")]
Seen = Annotated[
    list[str],
    typer.Option(
        "--seen",
        metavar="[DEVICE=]FILE",
        help="What a device sees. Whose it is follows from the file's name, such as leaf01.json, or is said before it.",
    ),
]


@app.callback()
def _group() -> None:
    """Compare what was built with the plan."""


@app.command()
def cabling(site: Site, *, seen: Seen, device: Device = None, as_json: AsJson = False) -> None:
    """
    Compare the neighbours that devices see with the plan's cables. Contacts nothing.

    Reads `lldpctl -f json` (and json0), `lldpcli show neighbors -f json`, EOS' `show lldp neighbors | json`, SONiC's
    `show lldp table`, and `ibnetdiscover`. Give as many files as there are; the order changes nothing.

    Exit status: 0 as planned, 2 a file or the spec cannot be used, 3 some cables could not be told, 5 some differ.

    Example: coldaisle verify cabling h100-pod --seen leaf01.json --seen subnet.txt
    """
    from coldaisle.collector import collector_paused  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.plan import plan_site  # noqa: PLC0415
    from coldaisle.spec import load_site, site_folder  # noqa: PLC0415
    from coldaisle.verify import compare, wanted  # noqa: PLC0415

    with collector_paused():
        spec = load_site(site_folder(site))
        plan = plan_site(spec)
    cables = wanted(spec, plan)
    if device is not None and device not in cables.devices:
        _refuse([f"there is no device {device} in the plan of {plan.name}"])
    report = compare(cables, answers_of(cables, seen, device), device)
    if as_json:
        from coldaisle.plan import plan_hash  # noqa: PLC0415

        print_json({"schema_version": "1", "site": plan.name, "plan": plan_hash(plan), **report.as_json()})
    else:
        from coldaisle.cli.cabling_tables import print_report  # noqa: PLC0415

        print_report(report)
    raise typer.Exit(exit_code(report))


def exit_code(report: CablingReport) -> ExitCode:
    """Return the exit status: what differs first, then what could not be told."""
    if report.findings:
        return ExitCode.CHANGED
    return ExitCode.COULD_NOT_TELL if report.unknown else ExitCode.CLEAN


def _refuse(problems: Sequence[str]) -> None:
    """
    Say what cannot be used.

    Raises:
        typer.Exit: always.
    """
    for problem in problems:
        typer.echo(problem, err=True)
    raise typer.Exit(ExitCode.INVALID)


def answers_of(cables: Wanted, seen: Sequence[str], device: str | None) -> list[Answer]:
    """Return what each file tells; every file that cannot be used is told at once."""
    from coldaisle.verify import UnknownFormatError  # noqa: PLC0415

    answers, problems = [], []
    for each in seen:
        try:
            answers.append(_answer(cables, each, device if len(seen) == 1 else None))
        except OSError as error:
            problems.append(f"{each} cannot be read: {error.strerror}")
        except (UnknownFormatError, LookupError) as error:
            problems.append(str(error.args[0]))
    if problems:
        _refuse(problems)
    return answers


def _answer(cables: Wanted, each: str, device: str | None) -> Answer:
    """
    Read one file.

    Raises:
        OSError: it cannot be read.
        LookupError: nothing says whose it is.
        UnknownFormatError: it has no known format.
    """
    from coldaisle.verify import read  # noqa: PLC0415
    from coldaisle.verify.read import tells_of_many  # noqa: PLC0415

    said, path = _parts(each)
    data = path.read_bytes()
    if tells_of_many(data.decode(errors="replace")):
        return read(data, path.name)
    whose = said or owner(path.name, cables.devices) or device
    if whose is None:
        raise LookupError(f"nothing says whose neighbours {path} holds. Write --seen DEVICE={path}")
    if whose not in cables.devices:
        raise LookupError(f"{each}: there is no device {whose} in the plan")
    return read(data, path.name, whose)


def _parts(each: str) -> tuple[str | None, Path]:
    """Return the device that is said before a file, and the file; an existing file may have a `=` in its name."""
    said, mark, rest = each.partition("=")
    return (said, Path(rest)) if mark and not Path(each).exists() else (None, Path(each))


def owner(name: str, devices: Iterable[str]) -> str | None:
    """Return the device that a file is named after: the longest name that it begins with, up to a dot, `-` or `_`."""
    known = [device for device in devices if re.match(rf"{re.escape(device)}([._-]|$)", name)]
    return max(known, key=len, default=None)
