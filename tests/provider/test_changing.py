"""Hosts that are turned on by the facility's start order."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from components.provider import changing
from components.provider.inputs import Hosts, PlayInputs
from components.provider.outcome import Trouble
from components.provider.reading import Reader
from components.provider.site import Site
from components.provider.work import Shared, Work

STARTS = {"h1": 2, "h2": 1, "h3": 2}


def work(playbook: str, lines: list[str], *, stopped: bool = False) -> Work:
    """Return a play at work on a site whose hosts start in two groups."""
    hosts = {name: {"rollout_shared": {"start": start}} for name, start in STARTS.items()}
    site = Site("floor", {"all": {"hosts": hosts}}, Path("state"))
    stop = asyncio.Event()
    if stopped:
        stop.set()
    shared = Shared(say=lambda _urn, line: lines.append(line), site=lambda _name: site, stop=stop, reader=Reader(stop))
    play = PlayInputs("floor", playbook, "c1", {name: {"power": "on"} for name in STARTS})
    return Work(shared, f"urn::{playbook}-train", play, 0)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the groups that were set up, without setting anything up."""
    groups: list[list[str]] = []

    async def settle(_work: Work, hosts: list[str]) -> tuple[Hosts, dict[str, Trouble]]:
        groups.append(hosts)
        return {host: {"power": "on"} for host in hosts}, {}

    monkeypatch.setattr(Work, "settle", settle)
    monkeypatch.setattr(changing, "POWER_ON_GAP_S", 0.01)
    return groups


def test_hosts_are_turned_on_group_by_group(settled: list[list[str]]) -> None:
    """A group waits until the self-tests of the one before are over, and the resource's line says so."""
    lines: list[str] = []
    seen, trouble = asyncio.run(changing.changed(work("bmc", lines), None, ["h1", "h2", "h3"]))
    assert settled == [["h2"], ["h1", "h3"]]
    assert (sorted(seen), trouble) == (["h1", "h2", "h3"], {})
    assert lines == ["start group 1/2 waits 0.01 s, until the self-tests of the group are over"]


def test_what_turns_nothing_on_has_no_order(settled: list[list[str]]) -> None:
    """Other plays take all hosts at once."""
    asyncio.run(changing.changed(work("os", []), None, ["h1", "h2", "h3"]))
    assert settled == [["h1", "h2", "h3"]]


def test_a_stop_between_groups_turns_nothing_more_on(settled: list[list[str]]) -> None:
    """The hosts that are left say that they were not started."""
    _seen, trouble = asyncio.run(changing.changed(work("bmc", [], stopped=True), None, ["h1", "h2", "h3"]))
    assert settled == [["h2"]]
    assert trouble["h1"].reason("h1") == "h1: not started: the run was stopped"
