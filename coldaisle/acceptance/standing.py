"""
Where a node stands by its evidence: accepted as it is now, to be tested again and why, or given up. Pure.

A result is current as long as what it is about is what the plan says: phase and domains, parts by serial, driver,
kernel, firmware and cables (coldaisle.plan.acceptance). The plan's hash alone would say too much: another rack in the
spec changes it, and makes no node worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from coldaisle.acceptance.outcome import TRIES, failures_in_a_row
from coldaisle.acceptance.records import PHASES
from coldaisle.spec.acceptance import Domain, Phase

Bodies = Sequence[Mapping[str, Any]]
"""Bodies of a node's evidence of acceptance, oldest first."""

NEVER = "it was never accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a node has to have passed: a phase, domains, and with what (aspects by fact)."""

    phase: Phase
    domains: tuple[Domain, ...]
    aspects: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """
    Where a node stands.

    `kind` is `current` (nothing is to be tested), `due` (`why` says why) or `given-up` (it failed `failures` times in
    a row as it is now). `facts` are the play's facts as the evidence tells them.
    """

    kind: Literal["current", "due", "given-up"]
    why: str
    failures: int
    facts: Mapping[str, str]


def about(wanted: Wanted, tests: Iterable[str] = (), wave: str = "") -> dict[str, Any]:
    """Return what a body says that it is about; `tests` are all that ran where it was no whole acceptance."""
    found: dict[str, Any] = {"asked_domains": list(wanted.domains), "accepted_for": dict(wanted.aspects)}
    found |= {"only_tests": sorted(tests)} if tests else {}
    return found | ({"wave": wave} if wave else {})


def failures(bodies: Bodies, aspects: Mapping[str, str]) -> int:
    """
    Return how often in a row a node has failed as it is now.

    A part that was replaced begins the count anew, and what a wave of changes has found is no fault of the node.
    """
    return failures_in_a_row(
        body
        for body in bodies
        if body.get("result") == "accepted" or ("wave" not in body and body.get("accepted_for", aspects) == aspects)
    )


def standing(bodies: Bodies, wanted: Wanted, accepted: str) -> Standing:
    """
    Return where a node stands.

    Args:
        bodies: Its evidence, oldest first.
        wanted: What it has to have passed.
        accepted: Name of the fact that holds the phase.

    """
    count = failures(bodies, dict(wanted.aspects))
    last: Mapping[str, Any] | None = None
    for body in reversed(bodies):
        if body.get("result") == "refused":
            kind: Literal["due", "given-up"] = "due"
            if count >= TRIES:
                kind = "given-up"
            return Standing(kind=kind, why=_refused(body), failures=count, facts={accepted: "refused"})
        if body.get("result") == "accepted":
            last = last or body
            if not _stale(body, wanted):
                facts = {accepted: wanted.phase, **wanted.aspects}
                return Standing(kind="current", why="", failures=count, facts=facts)
    if last is None:
        return Standing(kind="due", why=NEVER, failures=count, facts={accepted: "never"})
    long_enough = PHASES.index(last["phase"]) >= PHASES.index(wanted.phase)
    phase = wanted.phase if long_enough else str(last["phase"])
    seen = {accepted: phase, **dict(last.get("accepted_for", {}))}
    return Standing(kind="due", why=_stale(last, wanted), failures=count, facts=seen)


def _stale(body: Mapping[str, Any], wanted: Wanted) -> str:
    """Return why a body does not say that a node is accepted as it is now; nothing where it does."""
    if PHASES.index(body["phase"]) < PHASES.index(wanted.phase):
        return f"it was accepted by the phase {body['phase']} only"
    if missing := [domain for domain in wanted.domains if domain not in body.get("asked_domains", ())]:
        return f"it was not tested for {', '.join(missing)}"
    if body.get("only_tests"):
        return f"only {', '.join(body['only_tests'])} ran"
    known = body.get("accepted_for", {})
    changed = [name for name, text in wanted.aspects.items() if known.get(name) != text]
    return "; ".join(_change(name, known.get(name), wanted.aspects[name]) for name in changed)


def _change(name: str, was: str | None, now: str) -> str:
    aspect = name.partition(".")[2]
    return (
        f"{aspect} has changed, from {was} to {now}" if was else f"{aspect} is {now}, and it is not known what it was"
    )


def _refused(body: Mapping[str, Any]) -> str:
    """Return why a node was refused, with the part to replace."""
    return "; ".join(_reason(reason) for reason in body.get("reasons", ())) or "it was refused"


def _reason(reason: Mapping[str, Any]) -> str:
    part = reason.get("part")
    return f"{reason['test']}: {reason['what']}" + (f" (part: {part['text']})" if part else "")
