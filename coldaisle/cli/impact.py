"""`coldaisle impact`: what the next `up` would cost: reboots, waves, time, GPU-hours, and what has no way back."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, print_json

if TYPE_CHECKING:
    from coldaisle.plan.model import PlayPlan, SitePlan
    from coldaisle.waves.estimate import Durations, Estimate
    from coldaisle.waves.records import Change

SCHEMA_VERSION = "1"

Site = Annotated[str, typer.Argument(metavar="[SITE]", help="The site; also the stack, without --stack.")]
Stack = Annotated[str | None, typer.Option("--stack", help="The stack, where it is not named as the site.")]
Preview = Annotated[
    Path | None,
    typer.Option("--preview", metavar="FILE", help="The JSON of `pulumi preview --json`, or - for standard input."),
]
StartNow = Annotated[
    bool, typer.Option("--start-now", help="Exit 4 where a wave may not start now: the window is closed.")
]


def impact(
    site: Site = "sim",
    *,
    stack: Stack = None,
    preview: Preview = None,
    start_now: StartNow = False,
    as_json: AsJson = False,
) -> None:
    """
    Say what the next `up` would cost, before anything is touched.

    For each play that changes hosts: how many, how many reboot, in how many waves, how long it takes, how many
    GPU-hours are lost, and what has no way back. Times are those that waves of this site took, else guesses, which are
    named.

    The changes are those of `pulumi preview --json`, which is run unless --preview gives its output.

    Exit status: 0 said, 1 the preview failed, 2 wrong usage or invalid spec, 4 with --start-now, when a window is
    closed.

    Example: coldaisle impact sim --json | jq '.plays[].gpu_hours'
    """
    from coldaisle.check import open_site  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.spec import site_folder  # noqa: PLC0415

    plan = open_site(site_folder(site)).plan
    found = _estimates(plan, _steps(preview, stack or Path(site).name), _durations(plan.name))
    closed = _closed(plan, found)
    if as_json:
        plays = [asdict(each) for each in found]
        print_json({"schema_version": SCHEMA_VERSION, "site": plan.name, "plays": plays, "closed": closed})
    else:
        from coldaisle.cli.impact_tables import print_impact  # noqa: PLC0415

        print_impact(found, closed)
    raise typer.Exit(ExitCode.CHECK_FAILED if start_now and closed else ExitCode.CLEAN)


def _steps(file: Path | None, stack: str) -> list[Mapping[str, Any]]:
    """Return the steps of a preview: of a file, or of one that is run now."""
    if file is None:
        text = _run_preview(stack)
    else:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    try:
        return list(json.loads(text)["steps"])
    except (ValueError, KeyError, TypeError):
        typer.echo(f"{file or 'the preview'} is no JSON of a preview\n  fix: pulumi preview --json > FILE", err=True)
        raise typer.Exit(ExitCode.INVALID) from None


def _run_preview(stack: str) -> str:
    from coldaisle.toolchain.environment import environment  # noqa: PLC0415

    command = ["pulumi", "preview", "--json", "--non-interactive", "--stack", stack]
    try:
        done = subprocess.run(command, env=environment(stack), capture_output=True, text=True, check=False)
    except FileNotFoundError:
        typer.echo("there is no pulumi on PATH\n  fix: run 'make up', or install Pulumi, or give --preview", err=True)
        raise typer.Exit(ExitCode.OUR_FAULT) from None
    if done.returncode:
        typer.echo(f"pulumi preview failed (exit code {done.returncode}): {done.stderr.strip()[-2000:]}", err=True)
        raise typer.Exit(ExitCode.OUR_FAULT)
    return done.stdout


def _durations(site: str) -> Durations:
    from coldaisle.paths import state_dir  # noqa: PLC0415
    from coldaisle.waves.estimate import DURATIONS_FILE, WAVES_FOLDER  # noqa: PLC0415

    try:
        known: Durations = json.loads((state_dir(site) / WAVES_FOLDER / DURATIONS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known


def _estimates(plan: SitePlan, steps: list[Mapping[str, Any]], durations: Durations) -> list[Estimate]:
    """Return an estimate for each play that changes hosts which were set up before."""
    from coldaisle.plan.rollout import shared_of  # noqa: PLC0415
    from coldaisle.waves import Target, Wave, begin  # noqa: PLC0415
    from coldaisle.waves.estimate import estimate  # noqa: PLC0415

    plays = {play.name: play for play in plan.plays}
    targets = {name: Target.of(name, shared) for name, shared in shared_of(plan).items()}
    found = []
    for step in steps:
        play = plays.get(str(step.get("urn", "")).rsplit("::", 1)[-1])
        changes = _changes(step, play, targets) if play and step.get("op") == "update" else {}
        if play is None or not changes:
            continue
        waves: tuple[Wave, ...] = (Wave(hosts=tuple(changes), canary=False, why="all at once: there is no rollout"),)
        if play.rollout is not None:
            waves = begin(list(changes.values()), play.rollout, targets.values()).waves
        found.append(estimate(play, changes, waves, durations))
    return found


def _changes(step: Mapping[str, Any], play: PlayPlan, targets: Mapping[str, Any]) -> dict[str, Change]:
    """Return the change of each host of a play's step that was set up before."""
    from coldaisle.waves import Target  # noqa: PLC0415
    from coldaisle.waves.effects import change_of  # noqa: PLC0415

    before = ((step.get("oldState") or {}).get("outputs") or {}).get("hosts") or {}
    facts = _changed_facts(step)
    return {
        host: change_of(targets.get(host, Target(name=host, domains={})), play.playbook, names, before[host])
        for host, names in sorted(facts.items())
        if host in before
    }


def _changed_facts(step: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the facts that change by host; where the code does, every host is there, even without a fact."""
    paths = list(step.get("detailedDiff") or {})
    hosts = ((step.get("newState") or {}).get("inputs") or {}).get("hosts") or {}
    code = any(path in {"codeDigest", "playbook", "site"} for path in paths)
    found: dict[str, list[str]] = {host: [] for host in hosts} if code else {}
    for host, fact in _paths(paths):
        if host in hosts:
            found.setdefault(host, []).extend([fact] if fact else [])
    return found


def _paths(paths: list[str]) -> Iterator[tuple[str, str]]:
    from coldaisle.drift.preview import split_path  # noqa: PLC0415

    for keys in map(split_path, paths):
        if keys[0] == "hosts" and len(keys) > 1:
            yield keys[1], ".".join(keys[2:])


def _closed(plan: SitePlan, found: list[Estimate]) -> dict[str, str]:
    """Return, by play, when the next window opens, for plays whose waves may not start now."""
    from coldaisle.waves.windows import local_text, opens_at  # noqa: PLC0415

    now = time.time()
    closed = {}
    for play in (play for play in plan.plays if play.name in {each.play for each in found}):
        policy = play.rollout
        opens = opens_at(policy.windows, policy.timezone, now, policy.wave_s) if policy else now
        if policy and opens > now:
            closed[play.name] = local_text(policy.timezone, opens)
    return closed
