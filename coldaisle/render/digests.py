"""
Digests of what a resource's own properties do not show: a fabric's ports, the files that a host's variables carry.

A digest covers the variables of its own playbook only, so that a new label runs the join again and nothing else, and
what the machine is known by: another one in its place has nothing on it of what was set. How Ansible reaches a host is
left out: it differs from machine to machine, and changes nothing on the host.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pydantic_core

from coldaisle.plan.plays import VERBS
from coldaisle.render.ansible import config_of, inventory
from coldaisle.render.switch_facts import switch_facts
from coldaisle.words import LIFE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldaisle.plan.model import Facts, SitePlan

MACHINE = ("up_machine", "up_macs")
"""What the role `up`, which every playbook on a host begins with, knows a machine by."""


def record_digest(record: object) -> str:
    """Return the SHA-256 of one record of a plan, such as a fabric, in canonical JSON."""
    return _of(pydantic_core.to_jsonable_python(record))


def vars_digests(plan: SitePlan) -> dict[str, dict[str, str]]:
    """Return, by play and host, the SHA-256 of the variables that the play's role takes."""
    return _vars_digests(plan, inventory(plan)["all"]["hosts"])


def _vars_digests(plan: SitePlan, hosts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    return {play.name: {host: _digest(play.playbook, hosts[host]) for host in play.facts} for play in plan.plays}


def play_hosts(plan: SitePlan) -> dict[str, dict[str, Facts]]:
    """
    Return, by play and host, what a play's resource holds of the host: facts, and the digest of its variables.

    A switch's facts have its configuration too, a fact a section, so that a preview shows the lines that change; a
    host's have the record of the files that the play writes. One that the play leaves alone has its state, and no more.
    """
    hosts = inventory(plan)["all"]["hosts"]
    digests = _vars_digests(plan, hosts)
    found: dict[str, dict[str, Facts]] = {}
    for play in plan.plays:
        configs = {host: text for host in play.facts if (text := config_of(hosts[host]))}
        shown = switch_facts(plan, play, configs)
        found[play.name] = {
            host: facts
            if LIFE in facts
            else {
                **facts,
                **shown.get(host, {}),
                **_record(play.playbook, hosts[host]),
                "varsDigest": digests[play.name][host],
            }
            for host, facts in play.facts.items()
        }
    return found


def _record(playbook: str, variables: Mapping[str, Any]) -> Facts:
    """Return the record that a play's role keeps of its files, which its variables have among its facts."""
    name = f"files.{playbook}"
    own = variables.get(f"{playbook}_facts", {})
    return {name: own[name]} if name in own else {}


def _digest(playbook: str, variables: Mapping[str, Any]) -> str:
    # bmc_firmware_* belongs to the playbook bmc_firmware, not to bmc.
    others = tuple(f"{verb}_" for verb in VERBS if verb.startswith(f"{playbook}_"))
    names = [name for name in variables if name.startswith(f"{playbook}_") and not name.startswith(others)]
    own = {name: variables[name] for name in (*names, *MACHINE) if name in variables}
    return _of(own)


def _of(plain: Any) -> str:  # noqa: ANN401 - plain data of every kind
    return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
