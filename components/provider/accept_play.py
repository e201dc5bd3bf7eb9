"""
The play `accept`: who has to be tested, what becomes of the others, and that nobody works before.

A host that has never been accepted holds no work, and all such hosts are tested side by side, so that they can be
tested against each other. One that was accepted before holds work: it is drained first, in the waves of its pool's
policy where there is one. Each is given work when it is accepted, and by nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.provider.changing import in_waves, rolled
from components.provider.outcome import NotAccepted

if TYPE_CHECKING:
    from coldaisle.acceptance.standing import Standing
    from components.provider.inputs import Hosts, PlayInputs
    from components.provider.outcome import Trouble
    from components.provider.work import Variables, Work

WHY = "it is tested before it takes work"
GATES = {"drain": "withdrawn", "uncordon": "given"}
"""What the playbooks that take a host out of service, and give it back, do to its acceptance."""

DRAIN_TIMEOUT_S = 900
"""How long pods may take to go where no policy says; as the policies' own default."""


async def accepted(work: Work, old: PlayInputs | None, hosts: list[str]) -> tuple[Hosts, dict[str, Trouble]]:
    """Test the hosts whose evidence is not current; return what is then known of each, and who is not accepted."""
    known = work.shared.accepting().standings(work, hosts)
    current = [host for host in hosts if known[host].kind == "current"]
    seen: Hosts = {host: dict(work.play.hosts[host]) for host in current}
    trouble: dict[str, Trouble] = {host: _given_up(known[host]) for host in hosts if known[host].kind == "given-up"}
    due = [host for host in hosts if known[host].kind == "due"]
    waved = in_waves(work, old, due) if old is not None and work.play.rollout is not None else []
    trouble |= await _gate(work, "uncordon", current)
    now, wrong = await _tested(work, [host for host in due if host not in waved])
    seen, trouble = seen | now, trouble | wrong
    if old is not None:
        now, wrong = await rolled(work, old, waved)
        seen, trouble = seen | now, trouble | wrong
    return {host: facts for host, facts in seen.items() if host not in trouble or host in waved}, trouble


def _given_up(known: Standing) -> NotAccepted:
    return NotAccepted(f"it failed {known.failures} times in a row, and is not tried again as it is: {known.why}")


async def _tested(work: Work, hosts: list[str]) -> tuple[Hosts, dict[str, Trouble]]:
    """Keep work away from hosts, test them side by side, and let work come to those that are accepted."""
    if not hosts:
        return {}, {}
    trouble = await _gate(work, "drain", hosts)
    free = [host for host in hosts if host not in trouble]
    seen, wrong = await work.settle(free) if free else ({}, {})
    good = [host for host in free if host not in wrong]
    return seen, trouble | wrong | await _gate(work, "uncordon", good)


async def _gate(work: Work, playbook: str, hosts: list[str]) -> dict[str, Trouble]:
    """Close or open hosts of a cluster for work; return those on which that failed."""
    inventory = work.site().inventory["all"]["hosts"]
    mine = [host for host in hosts if "drain_node" in inventory[host]]
    if not mine:
        return {}
    variables: Variables = {
        host: {"drain_why": WHY, "drain_timeout_s": DRAIN_TIMEOUT_S, "drain_acceptance": GATES[playbook]}
        for host in mine
    }
    return dict((await work.run(playbook, mine, variables)).trouble)
