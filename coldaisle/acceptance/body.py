"""A node's outcome as the body of its signed statement: figures with limits, reasons with parts. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from coldaisle.acceptance.outcome import NodeOutcome
from coldaisle.acceptance.records import Reason, Result
from coldaisle.spec.acceptance import Phase

BODY_VERSION = "1"

ACCEPTANCE = "acceptance"
"""The kind of the statements whose bodies are made here."""

AFTER_STEP = "after_step"
"""Key of evidence: the number of the node's step in the journal that the run came after, 0 where it has none."""

RUN = "run"
"""Key of evidence: which run of its node it is of."""


def run_of(body: Mapping[str, Any]) -> int:
    """Return which run of its node a body is of, counted from 1; releases before counted none."""
    return int(body.get(RUN, 0))


def body_of(
    outcome: NodeOutcome, results: Sequence[Result], phase: Phase, about: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the body of `acceptance` evidence of one node; `about` says what it is about (see standing)."""
    own = [result for result in results if outcome.node in result.step.hosts]
    return {
        "version": BODY_VERSION,
        "result": outcome.verdict,
        "event": outcome.event,
        "failures_in_a_row": outcome.failures,
        "phase": phase,
        "domains": dict(outcome.domains),
        "reasons": [{"test": test, **reason_json(reason)} for test, reason in outcome.reasons],
        "steps": [step_json(result) for result in own],
        **(about or {}),
    }


def reason_json(reason: Reason) -> dict[str, Any]:
    """Return a reason as plain data."""
    return {"what": reason.what, "part": asdict(reason.part) | {"text": reason.part.text()} if reason.part else None}


def step_json(result: Result) -> dict[str, Any]:
    """Return one judged step as plain data."""
    step = result.step
    return {
        "id": step.id,
        "domain": step.domain,
        "hosts": list(step.hosts),
        "command": list(step.argv),
        "status": result.status,
        "seconds": round(result.seconds, 1),
        "reasons": [reason_json(reason) for reason in result.reasons],
        "measured": [
            {"metric": figure.metric, "value": figure.value, "of": figure.where.name if figure.where else None}
            for figure in result.measured
        ],
        "limits": [asdict(limit) for limit in step.limits],
    }
