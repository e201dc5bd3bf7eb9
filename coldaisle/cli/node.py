"""`coldaisle node`: the life of a node, from the pallet to the scrap yard, a step at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.node_options import (
    DrainTimeout,
    Evidence,
    Node,
    NoDrain,
    Placed,
    Seen,
    TakeOver,
    Unknown,
    Who,
    Why,
)
from coldaisle.cli.output import AsJson, Site, print_json

if TYPE_CHECKING:
    from coldaisle.cli.node_steps import Person
    from coldaisle.spec.journal import Step

app = typer.Typer(
    help="""
    The life of a node: enroll, inspect, verify, provision, accept, in-service, maintenance, repair, retired.

    Each step is a line of nodes.jsonl beside the site's spec: who, when, why, and the plan's hash. Commit the file. In
    maintenance and repair no play touches a node and no drift of it counts; a retired one is in no play at all.

    Begin with: coldaisle node list SITE, then coldaisle node show SITE NODE.
    """,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """Take a node through its life."""


@app.command("list")
def list_(site: Site, *, as_json: AsJson = False) -> None:
    """
    Show every node with its state, and who brought it there.

    Exit status: 0 shown, 2 the spec or the journal cannot be used.

    Example: coldaisle node list h100-pod --json | jq '.nodes[] | select(.state == "repair") | .node'
    """
    from coldaisle.check import open_site  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.cli.node_tables import print_nodes  # noqa: PLC0415
    from coldaisle.spec import site_folder  # noqa: PLC0415

    checked = open_site(site_folder(site))
    nodes = sorted((*checked.plan.nodes, *checked.plan.retired), key=lambda each: each.name)
    last = checked.spec.journal.last
    if as_json:
        shown = [{"node": each.name, "state": each.state, "last": _json(last.get(each.name))} for each in nodes]
        print_json({"schema_version": "1", "site": checked.plan.name, "nodes": shown})
    else:
        print_nodes(checked.plan.name, nodes, checked.spec.journal)


@app.command()
def show(site: Site, node: Node, *, as_json: AsJson = False) -> None:
    """
    Show where a node is in its life, what that means, and where it may go.

    Exit status: 0 shown, 2 there is no such node.
    """
    from coldaisle.cli.node_steps import opened  # noqa: PLC0415
    from coldaisle.life.states import MEANING, NEXT, STATES  # noqa: PLC0415

    known = opened(site, node)
    ways = [state for state in STATES if state in NEXT[known.state]]
    if as_json:
        print_json({"schema_version": "1", "node": node, "state": known.state, "last": _json(known.last), "next": ways})
        return
    state, meaning = (known.state, MEANING[known.state]) if known.state else ("in service", "no journal knows it")
    typer.echo(f"{node}: {state} ({meaning})")
    if known.last:
        typer.echo(f"since {known.last.when}: {known.last.who} ({known.last.why})")
    typer.echo(f"from there: {', '.join(ways)}")


@app.command()
def history(site: Site, node: Node, *, as_json: AsJson = False) -> None:
    """
    Show every step of a node, the oldest first.

    Exit status: 0 shown, 2 there is no such node.
    """
    from coldaisle.cli.node_steps import opened  # noqa: PLC0415
    from coldaisle.cli.node_tables import print_history  # noqa: PLC0415

    steps = opened(site, node).spec.journal.of(node)
    if as_json:
        print_json({"schema_version": "1", "node": node, "steps": [_json(each) for each in steps]})
    else:
        print_history(node, steps)


@app.command()
def enroll(site: Site, node: Node, *, why: Why, who: Who = None, as_json: AsJson = False) -> None:
    """
    Begin a node's life, or that of a retired one anew: no play touches it until its hardware was inspected.

    Exit status: 0 done, 2 it is in its life already, 6 somebody was quicker.

    Example: coldaisle node enroll h100-pod r01-n05 --why "delivered on pallet 7"
    """
    from coldaisle.cli.node_steps import opened, require_step, step  # noqa: PLC0415
    from coldaisle.cli.node_workload import readmitted  # noqa: PLC0415
    from coldaisle.spec.journal import GONE, RETIRED, TAKEN_BACK  # noqa: PLC0415

    known = opened(site, node)
    person, back = _person(who, why), list[str]()
    require_step(known, "enroll", person)
    if known.last and known.state == RETIRED:
        back = list(known.last.details.get(GONE, {}).values())
        readmitted(known)
    _done(step(known, "enroll", person, known.last, {TAKEN_BACK: back} if back else None), as_json=as_json)


@app.command()
def inspect(  # noqa: PLR0913 - a command's options
    site: Site,
    node: Node,
    *,
    why: Why = "inspection",
    who: Who = None,
    seen: Seen = [],  # noqa: B006 - typer makes a fresh list
    accept_unknown: Unknown = False,
    take_over: TakeOver = False,
    as_json: AsJson = False,
) -> None:
    """
    Compare a node's hardware with the delivery list: serials, GPUs, memory, ports by its BMC, cables by --seen.

    What is missing, unexpected, or at a wrong place is named with the slot or the cable to look at. A new node (enroll,
    inspect, verify) moves on when all is as planned: to verify by its parts, to provision by its cables. A node in
    repair, maintenance or service is looked at and stays where it is.

    Exit status: 0 as planned, 2 wrong usage, 3 some parts could not be told, 5 some differ.

    Example: coldaisle node inspect h100-pod r01-n05 --seen leaf01.json
    """
    from coldaisle.cli.node_inspect import inspect_node  # noqa: PLC0415
    from coldaisle.cli.node_steps import opened  # noqa: PLC0415

    person = _person(who, why, take_over=take_over)
    code = inspect_node(opened(site, node), person, seen, unknown_is_fine=accept_unknown, as_json=as_json)
    raise typer.Exit(code)


@app.command()
def accept(  # noqa: PLR0913 - a command's options
    site: Site,
    node: Node,
    *,
    why: Why,
    who: Who = None,
    evidence: Evidence = None,
    accept_unknown: Unknown = False,
    take_over: TakeOver = False,
    as_json: AsJson = False,
) -> None:
    """
    Take a node into service: new after its set-up, or mended. Its hardware must be the planned one, to the last serial.

    Run the acceptance tests before, and name what they kept with --evidence: its SHA-256 goes into the journal.

    Exit status: 0 in service, 2 it is not there yet, 3 some parts could not be told, 4 it is not as planned and stays
    in accept.

    Example: coldaisle node accept h100-pod r01-n05 --why "RMA 4711 done" --evidence r01-n05.json
    """
    from coldaisle.cli.node_inspect import accept_node  # noqa: PLC0415
    from coldaisle.cli.node_steps import opened  # noqa: PLC0415

    person = _person(who, why, take_over=take_over)
    code = accept_node(opened(site, node), person, evidence, unknown_is_fine=accept_unknown, as_json=as_json)
    raise typer.Exit(code)


@app.command()
def maintain(  # noqa: PLR0913 - a command's options
    site: Site,
    node: Node,
    *,
    why: Why,
    who: Who = None,
    no_drain: NoDrain = False,
    drain_timeout: DrainTimeout = 900,
    as_json: AsJson = False,
) -> None:
    """
    Take a node out of service for a while: no play touches it, and no drift of it counts, until it returns.

    In its cluster it is cordoned and drained; disruption budgets hold. Who begins it ends it, unless somebody takes it
    over.

    Exit status: 0 done, 2 it is not in service, 3 pods are left on it, 6 somebody else holds it, or works on it.

    Example: coldaisle node maintain h100-pod r01-n05 --why "clean the filters"
    """
    from coldaisle.cli.node_steps import in_hand, opened  # noqa: PLC0415
    from coldaisle.cli.node_workload import take_out  # noqa: PLC0415

    known, person = opened(site, node), _person(who, why)
    with in_hand(known, person):
        last = take_out(known, "maintenance", person, None if no_drain else drain_timeout)
    _done(last, as_json=as_json)


@app.command()
def repair(  # noqa: PLR0913 - a command's options
    site: Site,
    node: Node,
    *,
    why: Annotated[str | None, typer.Option("--why", help="Why; with --evidence it says so itself.")] = None,
    who: Who = None,
    evidence: Evidence = None,
    take_over: TakeOver = False,
    no_drain: NoDrain = False,
    drain_timeout: DrainTimeout = 900,
    as_json: AsJson = False,
) -> None:
    """
    Take a broken node out: drained, no play touches it, and only an acceptance brings it back into service.

    --evidence names a statement that has refused the node (`coldaisle accept`): its parts and findings become the
    ticket, which is printed and stands in the journal.

    Exit status: 0 done, 2 it cannot go there, 3 pods are left on it, 4 no such statement, 6 somebody else holds it, or
    works on it.

    Example: coldaisle node repair h100-pod r01-n05 --why "GPU_SXM_4 missing, RMA 4711"
    """
    from coldaisle.cli.node_repair import repair_node  # noqa: PLC0415
    from coldaisle.cli.node_steps import in_hand, opened  # noqa: PLC0415

    known, person = opened(site, node), _person(who, why or "", take_over=take_over)
    with in_hand(known, person):
        last = repair_node(known, person, evidence, None if no_drain else drain_timeout)
    if not as_json and "ticket" in last.details:
        typer.echo(last.details["ticket"])
    _done(last, as_json=as_json)


@app.command("return")
def return_(  # noqa: PLR0913 - a command's options
    site: Site, node: Node, *, why: Why, who: Who = None, take_over: TakeOver = False, as_json: AsJson = False
) -> None:
    """
    End a node's maintenance: uncordoned, in service, and plays work on it again. A repaired one needs `accept`.

    Exit status: 0 done, 2 it is not in maintenance, 3 its cluster says that it is not ready, 6 somebody else holds it.

    Example: coldaisle node return h100-pod r01-n05 --why "filters are clean"
    """
    from coldaisle.cli.bmc import refuse  # noqa: PLC0415
    from coldaisle.cli.node_steps import opened, require_step, step  # noqa: PLC0415
    from coldaisle.cli.node_workload import give_back  # noqa: PLC0415

    known, person = opened(site, node), _person(who, why, take_over=take_over)
    if known.state != "maintenance":
        state = known.state or "in service"
        refuse(
            f"{node} is {state}, not in maintenance; a mended or new node comes by coldaisle node accept",
            ExitCode.INVALID,
        )
    require_step(known, "in-service", person)
    give_back(known)
    _done(step(known, "in-service", person, known.last), as_json=as_json)


@app.command()
def replace(  # noqa: PLR0913 - a command's options
    site: Site,
    node: Node,
    *,
    why: Why,
    serial: Annotated[str | None, typer.Option("--serial", help="The new chassis' serial.")] = None,
    uuid: Annotated[str | None, typer.Option("--uuid", help="The UUID of the new machine's firmware.")] = None,
    bmc_mac: Annotated[str | None, typer.Option("--bmc-mac", help="The new BMC's MAC address.")] = None,
    gpu: Annotated[Placed, typer.Option("--gpu", metavar="SLOT=SERIAL", help="A new GPU.")] = [],  # noqa: B006 - typer makes a fresh list
    dimm: Annotated[Placed, typer.Option("--dimm", metavar="SLOT=SERIAL", help="A new memory module.")] = [],  # noqa: B006
    mac: Annotated[
        Placed, typer.Option("--mac", metavar="PORT=MAC", help="The MAC address of a new adapter's port.")
    ] = [],  # noqa: B006
    disk: Annotated[Placed, typer.Option("--disk", metavar="LABEL=SERIAL", help="A new disk.")] = [],  # noqa: B006
    take_back: Annotated[bool, typer.Option("--take-back", help="The part had left a node, and was mended.")] = False,
    who: Who = None,
    take_over: TakeOver = False,
    as_json: AsJson = False,
) -> None:
    """
    Write down that a node, a GPU, a memory module, an adapter or a disk was replaced (RMA).

    Changes the delivery list in place, comments stay; names and addresses stay, so that a preview shows what follows
    from the new MAC address or serial and no more. What left is remembered: it is refused where it turns up again.
    A new machine, BMC or adapter has to be set up anew: the node begins at its inspection. Others stay where they are.

    Exit status: 0 done, 2 it cannot be, and nothing was changed, 6 somebody else holds the node.

    Example: coldaisle node replace h100-pod r01-n05 --gpu GPU_SXM_4=1654923000123 --why "RMA 4711"
    """
    from coldaisle.cli.node_replace import replace_parts, wanted_of  # noqa: PLC0415
    from coldaisle.cli.node_steps import opened  # noqa: PLC0415

    placed = {"gpus": gpu, "dimms": dimm, "macs": mac, "disks": disk}
    wanted = wanted_of({"serial": serial, "uuid": uuid, "bmc_mac": bmc_mac and bmc_mac.lower()}, placed)
    found = replace_parts(opened(site, node), _person(who, why, take_over=take_over), wanted, take_back=take_back)
    if as_json:
        parts = [{"part": each.kind, "place": each.place, "old": each.old, "new": each.new} for each in found]
        print_json({"schema_version": "1", "node": node, "replaced": parts})
        return
    for each in found:
        typer.echo(f"{node} {each.text}")
    typer.echo(f"next: coldaisle node inspect {site} {node}")


@app.command()
def retire(  # noqa: PLR0913 - a command's options
    site: Site,
    node: Node,
    *,
    why: Why,
    wipe: Annotated[
        Placed, typer.Option("--wipe", metavar="SERIAL", help="A disk that you agree to lose for good.")
    ] = [],  # noqa: B006 - typer makes a fresh list
    keep_disks: Annotated[
        str | None, typer.Option("--keep-disks", metavar="WHY", help="Wipe nothing, and why.")
    ] = None,
    absent: Annotated[
        str | None, typer.Option("--absent", metavar="WHY", help="The machine is gone; ask nobody.")
    ] = None,
    who: Who = None,
    take_over: TakeOver = False,
    as_json: AsJson = False,
) -> None:
    """
    Retire a node: drained, its disks wiped with a certificate, off, and kept from coming back by itself.

    Its name and addresses stay its own. It is in no play, has no DHCP reservation and no boot script; its power policy
    (always off) and boot device (disk) are read back from its BMC. Its cluster forgets it, and refuses its kubelet.
    `coldaisle drift` names it when it is on after all.

    Exit status: 0 retired, 2 wrong usage, 3 it could not be done or read back; it stays in maintenance, 6 somebody else
    holds it.

    Example: coldaisle node retire h100-pod r01-n05 --wipe S6CKNT0W700001 --why "lease ends"
    """
    from coldaisle.cli.bmc import refuse  # noqa: PLC0415
    from coldaisle.cli.node_retire import Leaving, retire_node  # noqa: PLC0415
    from coldaisle.cli.node_steps import in_hand, opened  # noqa: PLC0415

    if sum(map(bool, (wipe, keep_disks, absent))) != 1:
        refuse("what becomes of its disks? Give --wipe for each, or --keep-disks, or --absent", ExitCode.INVALID)
    leaving = Leaving(wipe=tuple(wipe), keep_disks=keep_disks, absent=absent)
    known, person = opened(site, node), _person(who, why, take_over=take_over)
    with in_hand(known, person):
        retired = retire_node(known, person, leaving)
    _done(retired, as_json=as_json)


def _person(who: str | None, why: str, *, take_over: bool = False) -> Person:
    from coldaisle.cli.node_bmc import myself  # noqa: PLC0415
    from coldaisle.cli.node_steps import Person  # noqa: PLC0415

    return Person(who or myself(), why, take_over)


def _json(step: Step | None) -> dict[str, Any] | None:
    return step.model_dump(mode="json") if step else None


def _done(step: Step, *, as_json: bool) -> None:
    if as_json:
        print_json({"schema_version": "1", "step": _json(step)})
    else:
        typer.echo(f"{step.node}: {step.was or 'in service'} -> {step.state}; commit nodes.jsonl")
