"""What each play of a plan is given: the program declares it, and the provider imports by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldaisle.render.ansible import code_digest
from coldaisle.render.digests import play_hosts
from coldaisle.waves.policies import policy_json

if TYPE_CHECKING:
    from coldaisle.plan.model import SitePlan


def play_inputs(plan: SitePlan, site: str, on_delete: str = "undo") -> dict[str, dict[str, Any]]:
    """
    Return the inputs of every play by its name, in the plan's order.

    Args:
        plan: The site's.
        site: Its folder, as the program names it: relative to that of Pulumi.yaml, or absolute.
        on_delete: What becomes of the hosts of a play that is destroyed (components/play.py).
    """
    hosts = play_hosts(plan)
    code = {playbook: code_digest(playbook) for playbook in {play.playbook for play in plan.plays}}
    return {
        play.name: {
            "site": site,
            "playbook": play.playbook,
            "code_digest": code[play.playbook],
            "hosts": hosts[play.name],
            "on_delete": on_delete,
            "rollout": policy_json(play.rollout) if play.rollout else None,
        }
        for play in plan.plays
    }
