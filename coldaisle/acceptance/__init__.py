"""Acceptance: which tests show that a node is as planned, what their outputs mean, and which part is to blame."""

from coldaisle.acceptance.body import body_of
from coldaisle.acceptance.floors import floors
from coldaisle.acceptance.judge import judge
from coldaisle.acceptance.outcome import TRIES, NodeOutcome, failures_in_a_row, outcomes
from coldaisle.acceptance.records import DOMAINS, PHASES, CannotTellError, Output, Result, Step
from coldaisle.acceptance.steps import Selection, plan_steps
from coldaisle.spec.acceptance import Domain, Phase

__all__ = [
    "DOMAINS", "PHASES", "TRIES", "CannotTellError", "Domain", "NodeOutcome", "Output", "Phase", "Result", "Selection",
    "Step", "body_of", "failures_in_a_row", "floors", "judge", "outcomes", "plan_steps",
]  # fmt: skip
