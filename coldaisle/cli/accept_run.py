"""A run of acceptance by the command: the playbook, what it kept, and the judgement."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import tempfile
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import typer

from coldaisle.acceptance import Step
from coldaisle.acceptance.wire import role_variables
from coldaisle.cli.accept_judge import Done, Judging, kept
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.playbook import environment, inventory_of
from coldaisle.cli.progress import Say, progress
from coldaisle.evidence import EvidenceError, Store, open_store
from coldaisle.inventories import Inventory, given, part_of
from coldaisle.openssh import write_config
from coldaisle.pace import shares, write_settings
from coldaisle.paths import packaged
from coldaisle.plan.model import SitePlan
from coldaisle.spec import site_folder
from coldaisle.spec.sections import SiteSpec

FORKS = 64
"""Hosts that are tested at once."""

RUNS_AT_ONCE = 2
"""Runs that share them, where there are so many hosts: while one comes to its end, the other has hosts left."""

TOUCH_VARIABLE = "COLDAISLE_TOUCH"
"""Nodes that the inventory may give to a playbook in any state: what was mended is tested before it is in service."""
LAST_LINES = 15

Command = tuple[list[str], dict[str, str]]
"""The words of a run of Ansible, and its environment."""

TELL_S = 2.0
"""Seconds between two looks at how far the runs are."""

SSH_ARGS = "-o ControlMaster=auto -o ControlPersist=15s -o ServerAliveInterval=5 -o ServerAliveCountMax=6"
"""One connection a host for the tasks of a run; it ends soon after the last one."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of acceptance on a site, and how it is judged."""

    site: str
    judging: Judging

    def carry_out(self, steps: Sequence[Step]) -> Done:
        """Run the steps on the hosts, judge what they printed, and keep a signed statement of each node."""
        with tempfile.TemporaryDirectory(prefix="coldaisle-accept-") as folder:
            problems = run_playbook(self.site, self.judging.plan, steps, Path(folder))
            outputs = kept(Path(folder))
        return self.judging.judged(steps, outputs, problems)


def opened_store(spec: SiteSpec) -> Store:
    """Return the site's store, ready to sign, before anything runs: an unsigned result is not worth a day."""
    try:
        return open_store(spec)
    except EvidenceError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(ExitCode.INVALID) from None


def run_playbook(site: str, plan: SitePlan, steps: Sequence[Step], folder: Path) -> list[str]:
    """Run the playbook on the steps' hosts; its failures are told, and what the hosts did say is in the folder."""
    (folder / "kept").mkdir()
    hosts = tuple(dict.fromkeys(host for step in steps for host in step.hosts))
    # Tests between hosts go round by round over all of them.
    parts = [hosts] if any(step.round for step in steps) else shares(hosts)
    whole = inventory_of(plan, hosts) if len(parts) > 1 else {}
    forks = FORKS // min(RUNS_AT_ONCE, len(parts))
    settings = _settings(hosts, folder)
    runs: list[Command] = []
    for number, part in enumerate(parts):
        (place := folder / f"run-{number}").mkdir()
        own = _part(whole, part, place) if whole else given() or site_folder(site)
        wanted = set(part)
        mine = role_variables([step for step in steps if wanted.issuperset(step.hosts)], str(folder / "kept"))
        write_settings(config := place / "ansible.cfg", len(part))
        runs.append((_command(own, forks, part, mine, place), settings | {"ANSIBLE_CONFIG": str(config)}))
    with progress("testing") as say:
        return asyncio.run(_beside(runs, partial(_how_far, folder / "kept", len(hosts), say)))


def _part(whole: Inventory, hosts: Sequence[str], place: Path) -> Path:
    file = place / "inventory.json"
    file.write_text(json.dumps(part_of(whole, hosts)), encoding="utf-8")
    return file


def _command(own: Path, forks: int, hosts: Sequence[str], variables: Mapping[str, Any], place: Path) -> list[str]:
    extra, limit = place / "variables.json", place / "hosts"
    extra.write_text(json.dumps(variables), encoding="utf-8")
    limit.write_text("".join(f"{host}\n" for host in hosts))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", str(own), "--limit", f"@{limit}"]
    return [*command, "--forks", str(forks), "-e", f"@{extra}", str(packaged("playbooks") / "accept.yml")]


def _settings(hosts: Sequence[str], folder: Path) -> dict[str, str]:
    """Return the environment that all runs have."""
    return environment(folder / "ssh") | {
        TOUCH_VARIABLE: ",".join(sorted(hosts)),
        "ANSIBLE_SSH_ARGS": f"{write_config(folder / 'ssh_config')} {SSH_ARGS}",
        "ANSIBLE_INVENTORY_ENABLED": "coldaisle.site.plan,yaml",
    }


def _how_far(kept: Path, total: int, say: Say) -> None:
    """Say how many nodes have told a result: each has a file of its own."""
    say(f"{sum(1 for _ in kept.iterdir())} of {total} nodes have told results")


async def _beside(runs: Sequence[Command], tell: Callable[[], None]) -> list[str]:
    """
    Carry out the runs, two side by side, so that the end of one does not leave the other half of the time unused.

    `tell` is called now and then while they run.
    """
    turns = asyncio.Semaphore(RUNS_AT_ONCE)

    async def one(command: list[str], settings: dict[str, str]) -> list[str]:
        async with turns:
            return await _told(command, settings)

    async with asyncio.TaskGroup() as tasks:
        told = [tasks.create_task(one(*run)) for run in runs]
        while (await asyncio.wait(told, timeout=TELL_S))[1]:
            tell()
    return [problem for each in told for problem in each.result()]


async def _told(command: list[str], settings: dict[str, str]) -> list[str]:
    """Carry out a run, and return its last words where it failed. It ends when we do."""
    process = await asyncio.create_subprocess_exec(*command, env=settings, stdout=PIPE, stderr=STDOUT)
    try:
        told, _ = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    return ["\n".join(told.decode(errors="replace").strip().splitlines()[-LAST_LINES:])] if process.returncode else []
