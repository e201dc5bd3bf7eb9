"""`coldaisle health`: what nodes tell of their health, what follows by the policy, and, when asked, doing it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldaisle.cli.health_actions import Hands
    from coldaisle.cli.health_files import Kept
    from coldaisle.health.limits import Step
    from coldaisle.health.policy import Policy
    from coldaisle.health.tick import Decision

    Clock = Callable[[], float]

Nodes = Annotated[list[str], typer.Option("--node", metavar="NODE", help="Only this node; may be given often.")]
Watch = Annotated[bool, typer.Option("--watch", help="Go on, with a reading every --every seconds, until ^C.")]
Every = Annotated[float, typer.Option("--every", min=1, help="Seconds between two readings.")]
Apply = Annotated[bool, typer.Option("--apply", help="Do what is proposed, and write conditions to the cluster.")]
BmcLog = Annotated[bool, typer.Option("--bmc-log/--no-bmc-log", help="Read the event logs of BMCs too.")]
GiveBack = Annotated[list[str], typer.Option("--give-back", metavar="NODE", help="A node whose ticket is done.")]


@dataclass(slots=True)
class Round:
    """One reading of all nodes: what follows, how each step went, and what could not be told, by node."""

    decision: Decision
    outcomes: list[tuple[Step, bool, str]] = field(default_factory=list)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)


def health(  # noqa: PLR0913 - options of a command
    site: Site,
    *,
    node: Nodes = [],  # noqa: B006 - typer makes a fresh list
    watch: Watch = False,
    every: Every = 60.0,
    apply: Apply = False,
    bmc_log: BmcLog = True,
    give_back: GiveBack = [],  # noqa: B006
    as_json: AsJson = False,
) -> None:
    """
    Read kernel logs, GPUs and BMC logs of all nodes, and print conditions, bursts, what should be done, and what waits.

    What was read is kept in the site's state folder, so that the next run goes on from there. Without --apply nothing
    is done to a node. With it, steps are done within the limits of the site: drain, reset, power cycle, ticket.

    Exit status: 0 all is well, 2 the spec or what was kept cannot be used, 3 some nodes could not be read, 4 some have
    problems.

    Example: coldaisle health h100-pod --apply --watch
    """
    from coldaisle.cli.health_files import BusyError, alone, load, save  # noqa: PLC0415 - keeps the start light
    from coldaisle.cli.health_print import exit_code, show  # noqa: PLC0415
    from coldaisle.health.state import StateError  # noqa: PLC0415

    hands, policy = _opened(site)
    nodes = _nodes(hands, node, give_back)
    try:
        with alone(hands.folder):
            kept, clock = _in_step(load(hands.folder))
            kept = _given_back(kept, give_back, clock())
            while True:
                kept, found = _round(hands, policy, kept, nodes, clock, apply=apply, bmc_log=bmc_log)
                save(hands.folder, kept)
                show(hands.plan.name, found, as_json=as_json)
                if not watch:
                    raise typer.Exit(exit_code(found))
                time.sleep(every)
                kept, clock = _in_step(kept)
    except (BusyError, StateError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(ExitCode.INVALID if isinstance(error, StateError) else ExitCode.COULD_NOT_TELL) from None


def _opened(site: str) -> tuple[Hands, Policy]:
    from coldaisle.cli.health_actions import Hands  # noqa: PLC0415
    from coldaisle.collector import collector_paused  # noqa: PLC0415
    from coldaisle.health.policy import policy_of  # noqa: PLC0415
    from coldaisle.health.topology import topology_of  # noqa: PLC0415
    from coldaisle.paths import state_dir  # noqa: PLC0415
    from coldaisle.plan import plan_site  # noqa: PLC0415
    from coldaisle.spec import load_site, site_folder  # noqa: PLC0415
    from coldaisle.spec.health import HealthSpec  # noqa: PLC0415

    with collector_paused():
        spec = load_site(site_folder(site))
        plan = plan_site(spec)
    folder = state_dir(plan.name) / "health"
    return Hands(plan, topology_of(plan), spec.health or HealthSpec(), folder), policy_of(spec.health)


def _nodes(hands: Hands, only: list[str], others: list[str]) -> frozenset[str]:
    """Return the nodes that are read: those that are named, else all that have an inventory entry here."""
    unknown = sorted({*only, *others} - set(hands.site.nodes))
    if unknown:
        typer.echo(f"there is no node {', '.join(unknown)} in the plan of {hands.plan.name}", err=True)
        raise typer.Exit(ExitCode.INVALID)
    return frozenset(only or hands.site.nodes)


def _in_step(kept: Kept) -> tuple[Kept, Clock]:
    """Return what is known by the clock as it is now, and a clock for one reading, which does not jump."""
    from coldaisle.cli.health_files import in_step, moment, ticking  # noqa: PLC0415

    now = moment()
    kept, set_s = in_step(kept, now)
    if set_s:
        typer.echo(f"this machine's clock was set by {set_s:+.0f} s; what is known is moved with it", err=True)
    return kept, ticking(now)


def _given_back(kept: Kept, nodes: list[str], now: float) -> Kept:
    """Let nodes go back into service whose tickets a person has closed."""
    from coldaisle.health.ladder import given_back  # noqa: PLC0415

    ladders = tuple(given_back(it, now) if it.node in nodes else it for it in kept.state.ladders)
    events = tuple(event for event in kept.state.events if event.node not in nodes)
    return replace(kept, state=replace(kept.state, ladders=ladders, events=events))


def _round(  # noqa: PLR0913 - what one reading depends on
    hands: Hands, policy: Policy, kept: Kept, nodes: frozenset[str], clock: Clock, *, apply: bool, bmc_log: bool
) -> tuple[Kept, Round]:
    """Read, decide and, when asked, do it, until nothing more may be done without another reading."""
    from coldaisle.cli.health_cluster import Api, ask, write  # noqa: PLC0415
    from coldaisle.cli.health_collect import collect, in_maintenance, wanted_of  # noqa: PLC0415
    from coldaisle.cli.health_files import Kept as Keep  # noqa: PLC0415
    from coldaisle.health.shown import taken_over  # noqa: PLC0415
    from coldaisle.health.tick import tick  # noqa: PLC0415

    api = ask(hands.plan) if apply else Api()
    down = in_maintenance(hands.plan)
    read = collect(hands.plan, wanted_of(hands.plan, nodes - down, bmc_log=bmc_log), kept, clock)
    readings = [it.reading for it in read.values()]
    whole = {it.node for it in readings if it.complete}
    before = replace(kept.state, conditions=taken_over(kept.state.conditions, api.board, whole))
    state, decision = tick(before, readings, clock(), policy, hands.site, down)
    found = Round(decision, notes={name: it.notes for name, it in read.items() if it.notes})
    after = Keep(state, {**kept.cursors, **{name: it.cursors for name, it in read.items()}}, kept.at)
    if not apply:
        return after, found
    after = _act(hands, policy, after, found, down, clock)
    failed = write(api, decision.conditions, clock())
    found.notes |= {"cluster": tuple(failed)} if failed else {}
    return after, found


def _act(  # noqa: PLR0913, PLR0917 - all that a step depends on
    hands: Hands, policy: Policy, kept: Kept, found: Round, down: frozenset[str], clock: Clock
) -> Kept:
    """Do steps and what follows from them; what is known is written down before each, so that none is done twice."""
    from coldaisle.cli.health_files import save  # noqa: PLC0415
    from coldaisle.health.tick import begin, end, tick  # noqa: PLC0415

    steps = found.decision.steps
    while steps:
        for step in steps:
            kept = replace(kept, state=begin(kept.state, step, clock(), hands.site))
            save(hands.folder, kept)
            ok, why = hands.do(step, kept.state, clock())
            kept = replace(kept, state=end(kept.state, step, clock(), ok=ok, why=why))
            save(hands.folder, kept)
            found.outcomes.append((step, ok, why))
        state, decision = tick(kept.state, (), clock(), policy, hands.site, down)
        kept = replace(kept, state=state)
        found.decision = replace(found.decision, held=decision.held)
        tried = {(step.node, step.rung) for step, _ok, _why in found.outcomes}
        steps = tuple(step for step in decision.steps if (step.node, step.rung) not in tried)
    return kept
