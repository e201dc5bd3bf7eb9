"""Which way hosts are changed: all at once, by the order in which a site is powered on, or in waves."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING

from components.provider.outcome import NotStarted
from components.provider.work import ACCEPT

if TYPE_CHECKING:
    from components.provider.inputs import Hosts, PlayInputs
    from components.provider.outcome import Trouble
    from components.provider.work import Work

POWER_PLAYBOOK = "bmc"
"""The playbook that turns hosts on."""

POWER_ON_GAP_S = 60
"""
From one group of the start order to the next: a group draws its start-up power until its self-tests are over. Our
figure.
"""


async def changed(work: Work, old: PlayInputs | None, hosts: list[str]) -> tuple[Hosts, dict[str, Trouble]]:
    """
    Make hosts as planned, and return what was then seen of them, and what is wrong.

    Hosts that the play had set up before, or that a rollout has left unfinished, go through the waves of its policy, if
    it has one; a first bring-up has nothing in service to protect.
    """
    if work.play.playbook == ACCEPT:
        from components.provider.accept_play import accepted  # noqa: PLC0415 - most plays test nothing

        return await accepted(work, old, hosts)
    if old is None or work.play.rollout is None:
        return await _bring_up(work, hosts)
    waved = in_waves(work, old, hosts)
    seen, trouble = await _bring_up(work, [host for host in hosts if host not in waved])
    now, wrong = await rolled(work, old, waved)
    return seen | now, trouble | wrong


def in_waves(work: Work, old: PlayInputs, hosts: list[str]) -> list[str]:
    """Return the hosts that were set up before, or that a rollout has left unfinished."""
    from components.provider.rollout_files import RolloutFiles  # noqa: PLC0415 - pydantic and the waves

    kept = RolloutFiles(work.site().state, work.name).load()
    known = {*old.hosts, *(kept.state.changes if kept else ())}
    return sorted(host for host in hosts if host in known)


async def rolled(work: Work, old: PlayInputs, hosts: list[str]) -> tuple[Hosts, dict[str, Trouble]]:
    """Change hosts in the waves of the play's policy, unless the run was stopped before."""
    if not hosts or work.stopped:
        return {}, {}
    # Pydantic, the waves and what renders the plan: most runs have no rollout.
    from coldaisle.waves.policies import policy_of  # noqa: PLC0415
    from components.provider.rollout import Rollout  # noqa: PLC0415
    from components.provider.rollout_files import RolloutFiles, moments  # noqa: PLC0415

    files = RolloutFiles(work.site().state, work.name, moments(work.shared.clock))
    before = {host: old.hosts[host] for host in hosts if host in old.hosts}
    return await Rollout(work, policy_of(work.play.rollout or {}), files, before).run(hosts)


async def _bring_up(work: Work, hosts: list[str]) -> tuple[Hosts, dict[str, Trouble]]:
    """Set hosts up: side by side, but turn them on group by group."""
    groups = _start_groups(work, hosts)
    if len(groups) < 2:  # noqa: PLR2004 - one group, or none: nothing has an order
        return await work.settle(hosts) if hosts else ({}, {})
    seen: Hosts = {}
    trouble: dict[str, Trouble] = {}
    async with work.shared.power:
        for number, group in enumerate(groups, start=1):
            work.note = f"start group {number}/{len(groups)}"
            if work.stopped and number > 1:
                trouble |= dict.fromkeys(group, NotStarted("the run was stopped"))
                continue
            now, wrong = await work.settle(group)
            seen, trouble = seen | now, trouble | wrong
            if number < len(groups) and not work.stopped:
                await _pause(work)
    work.note = ""
    return seen, trouble


async def _pause(work: Work) -> None:
    work.say(f"waits {POWER_ON_GAP_S} s, until the self-tests of the group are over")
    with suppress(TimeoutError):
        await asyncio.wait_for(work.shared.stop.wait(), POWER_ON_GAP_S)


def _start_groups(work: Work, hosts: list[str]) -> list[list[str]]:
    """Return hosts by their group of the facility's start order; one group where there is none."""
    if work.play.playbook != POWER_PLAYBOOK:
        return [hosts] if hosts else []
    from coldaisle.render.ansible import SHARED  # noqa: PLC0415 - heavy, and only this play needs it

    known = work.site().inventory["all"]["hosts"]
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for host in hosts:
        groups[known.get(host, {}).get(SHARED, {}).get("start", 0)].append(host)
    return [groups[at] for at in sorted(groups)]
