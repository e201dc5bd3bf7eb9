"""
Digests of what a resource's own properties do not show: a fabric's ports, the files that a host's variables carry.

A digest covers the variables of its own playbook only, so that a new label runs the join again and nothing else. How
Ansible reaches a host is left out: it differs from machine to machine, and changes nothing on the host.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pydantic_core

from coldaisle.render.ansible import inventory
from coldaisle.render.frr_facts import switch_facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldaisle.plan.model import Facts, SitePlan


def record_digest(record: object) -> str:
    """Return the SHA-256 of one record of a plan, such as a fabric, in canonical JSON."""
    return _of(pydantic_core.to_jsonable_python(record))


def vars_digests(plan: SitePlan) -> dict[str, dict[str, str]]:
    """Return, by play and host, the SHA-256 of the variables that the play's role takes."""
    hosts = inventory(plan)["all"]["hosts"]
    return {play.name: {host: _digest(play.playbook, hosts[host]) for host in play.facts} for play in plan.plays}


def play_hosts(plan: SitePlan) -> dict[str, dict[str, Facts]]:
    """
    Return, by play and host, what a play's resource holds of the host: facts, and the digest of its variables.

    A switch's facts have its configuration too, a fact a section, so that a preview shows the lines that change.
    """
    digests = vars_digests(plan)
    return {
        play.name: {
            host: {**facts, **switch_facts(plan, play, host), "varsDigest": digests[play.name][host]}
            for host, facts in play.facts.items()
        }
        for play in plan.plays
    }


def _digest(playbook: str, variables: Mapping[str, Any]) -> str:
    own = {name: value for name, value in variables.items() if name.startswith(f"{playbook}_")}
    return _of(own)


def _of(plain: Any) -> str:  # noqa: ANN401 - plain data of every kind
    return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
