"""Steps as the variables of the role `accept`, and what it kept as outputs. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from coldaisle.acceptance.records import Output, Step
from coldaisle.acceptance.steps import FIRST_PORT

PAIRED = "accept_paired"
"""What the playbook knows the hosts by that a round has: a variable of the whole run, or a group."""


def paired(steps: Iterable[Step]) -> list[str]:
    """Return the hosts that a round has."""
    return sorted({host for step in steps if step.round for host in step.hosts})


def role_variables(steps: Sequence[Step], keep: str) -> dict[str, Any]:
    """Return what the play is given: each host's own steps, the hosts of pairs, and their rounds in order."""
    numbers = sorted({step.round for step in steps} - {0})
    return {
        "accept_keep": keep,
        PAIRED: paired(steps),
        "accept_steps": _by_host(steps, 0, 0),
        "accept_rounds": [
            {"number": number, "serve": _by_host(steps, number, 1), "run": _by_host(steps, number, 0)}
            for number in numbers
        ],
    }


def variables_by_host(steps: Sequence[Step], keep: str, hosts: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return what the role is given, by host: its own part of every round, so that none carries all of them."""
    whole = role_variables(steps, keep)

    def own(part: dict[str, Any], host: str) -> dict[str, Any]:
        return {host: part[host]} if host in part else {}

    return {
        host: {
            "accept_keep": keep,
            "accept_steps": own(whole["accept_steps"], host),
            "accept_rounds": [
                {"number": it["number"], "serve": own(it["serve"], host), "run": own(it["run"], host)}
                for it in whole["accept_rounds"]
            ],
        }
        for host in hosts
    }


def _by_host(steps: Iterable[Step], number: int, end: int) -> dict[str, list[dict[str, Any]]]:
    """Return the steps of a round by the host that leads (end 0), or that serves (end 1)."""
    found: dict[str, list[dict[str, Any]]] = {}
    for step in steps:
        if step.round == number and (end == 0 or step.serve):
            found.setdefault(step.hosts[end], []).append(_plain(step))
    return found


def _plain(step: Step) -> dict[str, Any]:
    found: dict[str, Any] = {"id": step.id, "argv": list(step.argv), "timeout_s": step.timeout_s}
    if step.port is not None:
        # Rails of a pair run one after the other: a later one's server waits for those before it.
        turns = step.port - FIRST_PORT + 1
        found |= {"serve": list(step.serve), "serve_s": step.timeout_s * turns, "port": step.port}
    return found


def read_outputs(lines: Iterable[str]) -> dict[str, Output]:
    """
    Return outputs by step. Of a pair the end that could not serve is told instead of the other end's words.

    A line that is cut short, as a killed run leaves it, is no output.
    """
    found: dict[str, Output] = {}
    for line in lines:
        try:
            output = Output(**json.loads(line))
        except (ValueError, TypeError):
            continue
        known = found.get(output.id)
        if known is None or known.status is not None:
            found[output.id] = output
    return found
