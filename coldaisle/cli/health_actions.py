"""Does what was decided: drains, resets, power cycles, tickets; each tells how it went."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldaisle.cli.health_files import add_ticket
from coldaisle.cli.playbook import PlaybookError, run_on_host
from coldaisle.health.tickets import ticket_of

if TYPE_CHECKING:
    from coldaisle.health.limits import Step
    from coldaisle.health.state import State
    from coldaisle.health.topology import Topology
    from coldaisle.plan.model import SitePlan
    from coldaisle.spec.health import HealthSpec

WEBHOOK_TIMEOUT_S = 20.0
Outcome = tuple[bool, str]
"""Whether it worked, and why not."""


@dataclass(frozen=True, slots=True)
class Hands:
    """What actions are done with: the plan, what nodes share, the site's settings, and the folder of tickets."""

    plan: SitePlan
    site: Topology
    spec: HealthSpec
    folder: Path

    def do(self, step: Step, state: State, now: float) -> Outcome:
        """Do one step, and return how it went."""
        if step.rung == "ticket":
            return self._ticket(step, state, now)
        if step.rung == "reset":
            return self._reset(step)
        if step.rung == "reboot":
            return self._play("power_cycle", step.node, {"power_cycle_consent": "yes"})
        return self._workload("drain" if step.rung == "drain" else "uncordon", step)

    def _workload(self, playbook: str, step: Step) -> Outcome:
        """Take a node out of the cluster's service, or give it back; without a cluster there is nobody to ask."""
        if self.plan.cluster is None:
            return True, "the site has no cluster"
        return self._play(playbook, step.node, {"drain_why": f"health: {step.why} at {step.part}"})

    def _reset(self, step: Step) -> Outcome:
        pool = next(pool for pool in self.plan.pools if step.node in pool.nodes)
        part = step.part.removeprefix("gpu ") if step.part.startswith("gpu 0") else ""
        vendor = pool.gpu.vendor.upper() if pool.gpu else "NVIDIA"
        return self._play("gpu_reset", step.node, {"gpu_reset_pci": part, "gpu_reset_vendor": vendor})

    def _play(self, playbook: str, node: str, variables: dict[str, Any]) -> Outcome:
        try:
            result = run_on_host(self.plan, playbook, node, variables)
        except PlaybookError as error:
            return False, str(error)
        return not result.error, result.error

    def _ticket(self, step: Step, state: State, now: float) -> Outcome:
        ladder = state.ladder(step.node)
        if ladder is None:
            return False, "it has no ladder"
        ticket = ticket_of(ladder, state, self.site, now)
        try:
            if self.spec.ticket_webhook:
                return posted(self.spec.ticket_webhook, ticket.as_json())
            add_ticket(self.folder, ticket)
        except OSError as error:
            return False, f"the ticket cannot be written: {error}"
        return True, ticket.replace


def posted(url: str, body: dict[str, Any]) -> Outcome:
    """Post a ticket, and return how it went."""
    import httpx  # noqa: PLC0415 - only sites with a webhook need it

    try:
        answer = httpx.post(url, json=body, timeout=WEBHOOK_TIMEOUT_S)
    except httpx.HTTPError as error:
        return False, f"{url}: {type(error).__name__}: {error}"
    return answer.is_success, "" if answer.is_success else f"{url} answered {answer.status_code}"
