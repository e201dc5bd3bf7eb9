"""`coldaisle accept`: run the tests of acceptance, judge them, and keep the result as signed evidence."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json, write_output

if TYPE_CHECKING:
    from coldaisle.acceptance import NodeOutcome, Selection, Step
    from coldaisle.plan.model import SitePlan
    from coldaisle.spec.sections import SiteSpec


class PhaseName(StrEnum):
    """How long an acceptance takes: minutes, an hour, or a day; each has the tests of those before it."""

    QUICK = "quick"
    FULL = "full"
    SOAK = "soak"


class DomainName(StrEnum):
    """Failure domains."""

    HOST = "host"
    PCIE = "pcie"
    GPU = "gpu"
    NIC = "nic"
    STORAGE = "storage"
    RUNTIME = "runtime"
    FABRIC = "fabric"


OfNodes = Annotated[list[str] | None, typer.Option("--node", metavar="N", help="Only these nodes.")]
OfRacks = Annotated[list[str] | None, typer.Option("--rack", metavar="R", help="Only nodes of these racks.")]
OfPools = Annotated[list[str] | None, typer.Option("--pool", metavar="P", help="Only nodes of these pools.")]
InPhase = Annotated[PhaseName, typer.Option("--phase", help="quick: minutes; full: an hour; soak: a day.")]
OfDomains = Annotated[list[DomainName] | None, typer.Option("--domain", help="Only these failure domains.")]
Rounds = Annotated[int, typer.Option("--rounds", min=0, help="Partners of each port in the fabric's pairs; 0: all.")]
Folder = Annotated[str, typer.Option("--storage-folder", help="Folder of the hosts whose disk is tested.")]
Who = Annotated[str | None, typer.Option("--who", help="Who is named in the evidence; the user where left out.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the result as one HTML page, too.")]
ShowPlan = Annotated[bool, typer.Option("--plan", help="Print which tests would run, and contact nobody.")]
Strict = Annotated[bool, typer.Option("--strict", help="A figure that no limit is known for is no pass.")]


def accept(  # noqa: PLR0913 - a command's options
    site: Site,
    *,
    node: OfNodes = None,
    rack: OfRacks = None,
    pool: OfPools = None,
    phase: InPhase = PhaseName.QUICK,
    domain: OfDomains = None,
    rounds: Rounds = 3,
    storage_folder: Folder = "/var/tmp",  # noqa: S108 - a folder of hosts
    who: Who = None,
    html: Html = None,
    show_plan: ShowPlan = False,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """
    Run the tests of acceptance on a site's nodes by failure domain, judge them, and sign what was found.

    What is cheap and local comes first, the fabric last. Every node gets a signed statement (`coldaisle evidence`). A
    node that fails three times in a row is one to repair.

    Exit status: 0 accepted, 2 usage or spec, 3 some could not be told, 4 some failed.

    Example: coldaisle accept h100-pod --rack r01 --phase full
    """
    from coldaisle.acceptance import DOMAINS, Selection, floors, plan_steps  # noqa: PLC0415 - keeps other starts light

    spec, plan = _planned(site)
    wanted = Selection(
        phase=phase.value,
        domains=tuple(each for each in DOMAINS if domain is None or each in {one.value for one in domain}),
        nodes=_selected(plan, node, rack, pool),
        rounds=rounds,
        folder=storage_folder,
    )
    steps = plan_steps(plan, floors(spec.catalog), wanted)
    if not steps:
        typer.echo("no test fits: look at --phase, --domain and the nodes that were named", err=True)
        raise typer.Exit(ExitCode.INVALID)
    if show_plan:
        _print_plan(steps, as_json=as_json)
        return
    _run(_Asked(site, spec, plan, who, strict), wanted, steps, html, as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The site in question, who asks, and whether a figure without a limit is no pass."""

    site: str
    spec: SiteSpec
    plan: SitePlan
    who: str | None
    strict: bool


def _planned(site: str) -> tuple[SiteSpec, SitePlan]:
    from coldaisle.plan import plan_site  # noqa: PLC0415
    from coldaisle.spec import load_site, site_folder  # noqa: PLC0415

    spec = load_site(site_folder(site))
    return spec, plan_site(spec)


def _selected(
    plan: SitePlan, nodes: list[str] | None, racks: list[str] | None, pools: list[str] | None
) -> frozenset[str] | None:
    """
    Return the nodes that are meant, None for all; a name that the plan does not have ends the command.

    Nodes that plays leave alone (in repair, say) are meant where they are named, and only there.
    """
    from coldaisle.spec.journal import UNTOUCHED  # noqa: PLC0415

    alone = {each.name for each in plan.nodes if each.state in UNTOUCHED} - set(nodes or ())
    if not (nodes or racks or pools or alone):
        return None
    kinds = (
        ("node", nodes, {each.name for each in plan.nodes}),
        ("rack", racks, {each.rack for each in plan.nodes}),
        ("pool", pools, {each.pool for each in plan.nodes}),
    )
    unknown = [
        f"there is no {kind} {name} with nodes"
        for kind, names, known in kinds
        for name in names or ()
        if name not in known
    ]
    if unknown:
        typer.echo("\n".join(unknown), err=True)
        raise typer.Exit(ExitCode.INVALID)
    return frozenset(
        each.name
        for each in plan.nodes
        if each.name not in alone
        and (not nodes or each.name in nodes)
        and (not racks or each.rack in racks)
        and (not pools or each.pool in pools)
    )


def _print_plan(steps: tuple[Step, ...], *, as_json: bool) -> None:
    """Print the steps in their order, with their words."""
    if as_json:
        from dataclasses import asdict  # noqa: PLC0415

        print_json({"schema_version": "1", "steps": [asdict(step) for step in steps]})
        return
    for step in steps:
        typer.echo(f"{step.round or '-'}  {step.domain:8} {step.id}: {' '.join(step.argv)}")


def _run(asked: _Asked, wanted: Selection, steps: tuple[Step, ...], html: Path | None, *, as_json: bool) -> None:
    """Run the steps, judge, keep and print; ends the command with its exit status."""
    from coldaisle.cli.accept_judge import Judging, last_steps, wanted_of  # noqa: PLC0415
    from coldaisle.cli.accept_report import page, print_report, report_json  # noqa: PLC0415
    from coldaisle.cli.accept_run import Run, opened_store  # noqa: PLC0415

    judging = Judging(
        asked.plan,
        opened_store(asked.spec),
        wanted.phase,
        asked.who or getpass.getuser(),
        datetime.now(UTC),
        strict=asked.strict,
        steps=last_steps(asked.spec),
        wanted=wanted_of(asked.plan, wanted.phase, wanted.domains),
    )
    done = Run(asked.site, judging).carry_out(steps)
    if html is not None:
        write_output(html, page(done))
    if as_json:
        print_json(report_json(done))
    else:
        print_report(done)
    raise typer.Exit(exit_code(done.outcomes))


def exit_code(outcomes: tuple[NodeOutcome, ...]) -> ExitCode:
    """Return the exit status: what failed first, then what could not be told."""
    verdicts = {outcome.verdict for outcome in outcomes}
    if "refused" in verdicts:
        return ExitCode.CHECK_FAILED
    return ExitCode.COULD_NOT_TELL if "could-not-tell" in verdicts else ExitCode.CLEAN
