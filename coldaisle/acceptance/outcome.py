"""What a run says of each node: accepted or not, why, which part to replace, and when to stop trying. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from coldaisle.acceptance.records import STATUSES, Reason, Result, Status
from coldaisle.spec.acceptance import Domain

Verdict = Literal["accepted", "refused", "could-not-tell"]

TRIES = 3
"""Failures in a row after which trying again is no use: the node is to be repaired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOutcome:
    """
    What is known of one node after a run.

    `reasons` are those of the steps that failed or could not be told, each with its test. `failures` counts the runs in
    a row that it failed, this one included. `event` is what others are to act on: `repair` after `TRIES` failures.
    """

    node: str
    verdict: Verdict
    reasons: tuple[tuple[str, Reason], ...]
    counts: Mapping[Status, int]
    domains: Mapping[Domain, Status]
    failures: int = 0

    @property
    def event(self) -> Literal["accepted", "refused", "repair", "could-not-tell"]:
        """What happened, in one word."""
        return "repair" if self.verdict == "refused" and self.failures >= TRIES else self.verdict


def outcomes(results: Sequence[Result], before: Mapping[str, int]) -> tuple[NodeOutcome, ...]:
    """
    Return an outcome a node, in the order in which nodes first appear.

    Args:
        results: Of a whole run.
        before: How often in a row each node has failed up to now.
    """
    nodes = dict.fromkeys(host for result in results for host in result.step.hosts)
    return tuple(_outcome(node, _of(node, results), before.get(node, 0)) for node in nodes)


def _of(node: str, results: Iterable[Result]) -> list[Result]:
    """Return what counts for a node: its own steps, those of groups, and pairs unless another end is to blame."""
    return [result for result in results if node in result.step.hosts and _counts(node, result)]


def _counts(node: str, result: Result) -> bool:
    named = {reason.part.name for reason in result.reasons if reason.part is not None}
    if result.status != "failed" or len(result.step.hosts) == 1 or not named:
        return True
    return any(_names(name, node) for name in named)


def _names(part: str, node: str) -> bool:
    """Return whether a part's name begins with the node, behind the word cable if it is one."""
    return part.removeprefix("cable ").replace(":", " ").split(" ")[0] == node


def _outcome(node: str, results: Sequence[Result], before: int) -> NodeOutcome:
    bad = [result for result in results if result.status in {"failed", "could-not-tell"}]
    failed = any(result.status == "failed" for result in bad)
    verdict: Verdict = "refused" if failed else "could-not-tell" if bad or not results else "accepted"
    failures = before + 1 if failed else 0 if verdict == "accepted" else before
    return NodeOutcome(
        node=node,
        verdict=verdict,
        reasons=tuple((result.step.test, reason) for result in bad for reason in result.reasons),
        counts={status: sum(result.status == status for result in results) for status in STATUSES},
        domains=_domains(results),
        failures=failures,
    )


def _domains(results: Iterable[Result]) -> dict[Domain, Status]:
    """Return the worst status of each failure domain."""
    found: dict[Domain, Status] = {}
    for result in results:
        worst = found.get(result.step.domain, "passed")
        found[result.step.domain] = min(worst, result.status, key=STATUSES.index)
    return found


def failures_in_a_row(bodies: Iterable[Mapping[str, Any]]) -> int:
    """Return how often a node failed since it was last accepted, by the bodies of its evidence, oldest first."""
    count = 0
    for body in bodies:
        if body.get("result") == "accepted":
            count = 0
        elif body.get("result") == "refused":
            count += 1
    return count
