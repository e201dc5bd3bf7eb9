"""`coldaisle sim virtual`: rehearse a change of thousands of hosts in virtual time, many seeds over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json
from coldaisle.cli.sim_shared import plan_of, told

if TYPE_CHECKING:
    from sim.virtual.trial import Outcome

SHOWN = 5
"""Sentences of a trial in which something did not hold; --json has all."""

OF_A_HOST = ("fails", "silent", "dead", "bad_change", "slow_change", "half_dark")
"""Probabilities; the others are rates an hour."""

FREE = (
    "Virtual time, free of protocols: no packet, no playbook and no machine took part. Compare with no measured second."
)


def virtual(  # noqa: PLR0913 - a command's options
    site: Site,
    *,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many trials.")] = 100,
    seed: Annotated[
        int, typer.Option("--seed", help="The first trial's seed; with --seeds 1 this one is replayed.")
    ] = 0,
    pool: Annotated[str | None, typer.Option("--pool", help="Whose hosts change; the largest one with GPUs.")] = None,
    playbook: Annotated[str, typer.Option("--playbook", help="What changes: gpu, or bmc_firmware.")] = "gpu",
    worse: Annotated[float, typer.Option("--worse", min=0, help="So many times as likely is everything bad.")] = 1.0,
    as_json: AsJson = False,
) -> None:
    """
    Rehearse a new driver or firmware: the site's plan, the provider's and the waves' own logic, a model of hosts.

    In each trial hosts fail, fall silent or lose their power, the run is stopped or killed, and the change itself may
    be bad. What must hold (limits, canary first, drained before it is changed, told is true, nothing twice) is judged
    by the model's hosts. A trial in which something does not hold is printed with its seed; the same seed replays it.

    Exit status: 0 all held, 2 the site or the change cannot be rehearsed, 4 something did not hold.

    Example: coldaisle sim virtual h100-pod --seeds 200
    """
    from sim.virtual.command import ground, record, trials  # noqa: PLC0415 - loaded when it is wanted
    from sim.virtual.hazards import Hazards  # noqa: PLC0415

    with told():
        place = ground(plan_of(site), pool, playbook)
    usual = Hazards()
    rates = {name: min(1.0, getattr(usual, name) * worse) for name in OF_A_HOST}
    rates |= {name: getattr(usual, name) * worse for name in ("kills_an_hour", "stops_an_hour", "losses_an_hour")}
    outcomes = list(_shown(trials(place, range(seed, seed + seeds), replace(usual, **rates)), quiet=as_json))
    bad = [outcome for outcome in outcomes if outcome.broken]
    if as_json:
        print_json({"note": FREE, "trials": [record(outcome) for outcome in outcomes]})
    else:
        _tell(outcomes, bad, site)
    raise typer.Exit(ExitCode.CHECK_FAILED if bad else ExitCode.CLEAN)


def _shown(outcomes: Iterable[Outcome], *, quiet: bool) -> Iterable[Outcome]:
    for number, outcome in enumerate(outcomes, start=1):
        if outcome.broken and not quiet:
            typer.echo(f"seed {outcome.seed}: something did not hold")
        if not quiet and number % 50 == 0:
            typer.echo(f"{number} trials", err=True)
        yield outcome


def _tell(outcomes: list[Outcome], bad: list[Outcome], site: str) -> None:
    counts = {
        name: sum(getattr(each, name) for each in outcomes) for name in ("ups", "kills", "stops", "losses", "outages")
    }
    hours = sum(outcome.hours for outcome in outcomes)
    typer.echo(
        f"{len(outcomes)} trials of {outcomes[0].hosts} hosts, {hours:.0f} virtual hours: {counts['ups']} times up, "
        f"{counts['kills']} killed, {counts['stops']} stopped, {counts['losses'] + counts['outages']} losses of power, "
        f"{sum(outcome.bad_change for outcome in outcomes)} bad changes, "
        f"{sum(outcome.slow_change for outcome in outcomes)} that only tests find; "
        f"{len(bad)} with something that did not hold"
    )
    for outcome in bad:
        typer.echo(f"\nseed {outcome.seed} (replay: coldaisle sim virtual {site} --seeds 1 --seed {outcome.seed})")
        for sentence in outcome.broken[:SHOWN]:
            typer.echo(f"  {sentence}")
        if len(outcome.broken) > SHOWN:
            typer.echo(f"  and {len(outcome.broken) - SHOWN} more")
    typer.echo(FREE)
