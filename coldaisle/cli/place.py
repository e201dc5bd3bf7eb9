"""`coldaisle place`: where the nodes of a pool could stand, and how much more a hall can take."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json, print_problems, problem_json
from coldaisle.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldaisle.check import CheckedSite
    from coldaisle.proposal import Limit, Proposal, Room
    from coldaisle.spec import SiteSpec

Pool = Annotated[str | None, typer.Option("--pool", metavar="POOL", help="Only this pool; else all that lack nodes.")]
Count = Annotated[
    int | None, typer.Option("--count", min=1, help="This many nodes more, whatever `count` of the pool says.")
]
Within = Annotated[
    str | None, typer.Option("--within", metavar="PLACE", help="Only in a rack, racks in a range, a row or a hall.")
]
System = Annotated[str | None, typer.Option("--system", metavar="SYSTEM", help="With --room, only this system.")]
Whole = Annotated[bool, typer.Option("--room", help="How many more of each system of the catalog the hall can take.")]
Strict = Annotated[bool, typer.Option("--strict", help="Take no place that a check would warn of.")]

_SHOWN = 6
"""Limits that are printed; --json has them all."""
_SHOWN_OF_ROOM = 2


def place(  # noqa: PLR0913 - one parameter for each option
    site: Site,
    *,
    pool: Pool = None,
    count: Count = None,
    within: Within = None,
    room: Whole = False,
    system: System = None,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """
    Propose where nodes go that have no place yet, and say what limits it. Nothing that is placed is moved.

    A pool says with `count` how many nodes it shall have. Power on each feed and above it, also after a loss, heat in
    air and liquid, rack units and weight are the same rules as those of `coldaisle check`. The answer is the lines for
    node_pools.yaml; what limits the next node stands in it as comments. A figure that is not known is never zero.

    Exit status: 0 clean, 2 the spec cannot be used or nothing of that name is there, 3 a figure is not known, 4 the
    nodes do not fit, or a check finds an error with them.

    Example: coldaisle place h100-pod --pool su4 --count 1
    """
    from coldaisle.check import open_site  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.spec import site_folder  # noqa: PLC0415

    checked = open_site(site_folder(site))
    try:
        _known_place(checked.spec, within)
        if room:
            code = _room(checked, system, within=within, strict=strict, as_json=as_json)
        else:
            code = _propose(checked, pool, count, within=within, strict=strict, as_json=as_json)
    except LookupError as error:
        typer.echo(error.args[0], err=True)
        raise typer.Exit(ExitCode.INVALID) from None
    raise typer.Exit(code)


def _known_place(spec: SiteSpec, within: str | None) -> None:
    from coldaisle.proposal.floor import racks_within  # noqa: PLC0415
    from coldaisle.spec.ranges import RangeError  # noqa: PLC0415

    try:
        found = racks_within(spec.racks, within)
    except RangeError as error:
        raise LookupError(f"{within}: {error}") from None
    if not found:
        raise LookupError(f"no rack, row or hall is named {within}")


# -- a proposal -------------------------------------------------------------------------------------------------
def _propose(  # noqa: PLR0913 - the options of the command
    checked: CheckedSite, pool: str | None, count: int | None, *, within: str | None, strict: bool, as_json: bool
) -> ExitCode:
    from coldaisle.proposal import propose, wanted  # noqa: PLC0415

    if count is not None and pool is None:
        raise LookupError("--count needs --pool: which pool shall have that many nodes more?")
    wants = wanted(checked.spec, pool, count)
    found = propose(checked, wants, within=within, strict=strict)
    if as_json:
        print_json({"schema_version": "1", "site": checked.plan.name, **proposal_json(found)})
    elif not wants:
        typer.echo(f"{checked.plan.name}: every node has a place. `--pool POOL --count N` asks for more.")
    else:
        typer.echo(proposal_text(found), nl=False)
        print_problems(found.findings, err=True)
    return _code(found)


def _code(found: Proposal) -> ExitCode:
    if not found.complete:
        return ExitCode.COULD_NOT_TELL if _cannot_tell(found.limits) else ExitCode.CHECK_FAILED
    failed = any(finding.severity == "error" for finding in found.findings)
    return ExitCode.CHECK_FAILED if failed else ExitCode.CLEAN


def _cannot_tell(limits: Sequence[Limit]) -> bool:
    return any(limit.unknown for limit in limits)


def proposal_json(found: Proposal) -> dict[str, Any]:
    """Return a proposal as a JSON object."""
    plain = {key: value for key, value in asdict(found).items() if key != "findings"}
    return {**plain, "complete": found.complete, "findings": [problem_json(each) for each in found.findings]}


def proposal_text(found: Proposal) -> str:
    """Return a proposal as lines for node_pools.yaml, with what limits it as comments."""
    import yaml  # noqa: PLC0415

    lines = [
        *_heads(found),
        *(f"# not judged: {what}" for what in found.unsure),
        *(f"# {line}" for line in _limit_lines(found.limits)),
    ]
    if found.relaxations:
        lines.append("# any one of these alone would make room:")
        lines += [f"#   for {each.fits}: {each.what} [{each.check}]" for each in found.relaxations]
    if not found.complete:
        return "\n".join(lines) + "\n"
    body = {"node_pools": {pool: {"nodes": _plain(new)} for pool, new in found.lines.items()}}
    dumped = yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None)
    return "\n".join(lines) + "\n" + dumped


def _plain(lines: Any) -> dict[str, Any]:  # noqa: ANN401 - a map of lines
    return {key: dict(line) for key, line in lines.items()}


def _heads(found: Proposal) -> Iterator[str]:
    for want in found.wants:
        racks = len({node.rack for node in found.nodes if node.pool == want.pool})
        nodes = counted(want.count, "node")
        if found.complete:
            yield f"# {nodes} of pool {want.pool} ({want.system}) in {counted(racks, 'rack')}: add to node_pools.yaml"
        else:
            fits = found.fits[want.pool]
            yield f"# {fits} of {nodes} of pool {want.pool} ({want.system}) fit{'s' if fits == 1 else ''}"


def _limit_lines(limits: Sequence[Limit]) -> Iterator[str]:
    """Yield what stops the next node: each limit with the racks that it holds for, and what would mend it."""
    if limits:
        yield "what stops the next one:"
    for limit in limits[:_SHOWN]:
        yield f"  {_racks(limit.racks)}{limit.what} [{limit.check}]"
        yield f"    fix: {limit.fix}"
    if len(limits) > _SHOWN:
        yield f"  and {counted(len(limits) - _SHOWN, 'limit')} more (--json has all)"


def _racks(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f"{names[0]}: " if len(names) == 1 else f"{len(names)} racks ({names[0]} … {names[-1]}): "


# -- the room of a hall -----------------------------------------------------------------------------------------
def _room(checked: CheckedSite, system: str | None, *, within: str | None, strict: bool, as_json: bool) -> ExitCode:
    from coldaisle.proposal import room  # noqa: PLC0415
    from coldaisle.spec.base import near_miss  # noqa: PLC0415

    systems = sorted(checked.spec.catalog.systems)
    if system is not None and system not in systems:
        raise LookupError(f"no system is named {system}: {near_miss(system, systems)}")
    found = room(checked, systems if system is None else [system], within=within, strict=strict)
    if as_json:
        rows = [asdict(each) for each in found]
        print_json({"schema_version": "1", "site": checked.plan.name, "systems": rows})
    else:
        print_room(checked.plan.name, found)
    return ExitCode.CLEAN


def print_room(site: str, found: Iterable[Room]) -> None:
    """Print how many more of each system a site can take, with what stops the next one."""
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(title=f"Room of {site}", title_justify="left", header_style="bold")
    table.add_column("system")
    table.add_column("more", justify="right")
    table.add_column("what stops the next one")
    for each in found:
        told = [] if each.more is None and each.unsure else each.limits[:_SHOWN_OF_ROOM]
        lines = [f"not judged: {what}" for what in each.unsure]
        lines += [f"{_racks(limit.racks)}{limit.what} \\[{limit.check}]" for limit in told]
        table.add_row(each.system, "unknown" if each.more is None else str(each.more), "\n".join(lines))
    Console().print(table)
