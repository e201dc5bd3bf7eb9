"""
What outputs mean: figures against limits, faults, and the part that is to blame. Pure.

Three things never pass: an output that is not known, a tool that did not run, and an exit status that the output does
not explain. A figure without a limit is kept as `measured`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coldaisle.acceptance.matrix import blame
from coldaisle.acceptance.parsers import PARSERS, Parser
from coldaisle.acceptance.parts import Facts, empty_slots, part_of
from coldaisle.acceptance.records import CannotTellError, Limit, Measured, Output, Part, Reading, Reason, Result, Step

Worse = Callable[[Step, Measured], str]
"""Says how a figure has become worse than it was, and nothing where it has not."""

NOT_FOUND = 127
"""Exit status of a command that is not installed (POSIX, XCU 2.8.2)."""


def judge(
    steps: Sequence[Step],
    outputs: Mapping[str, Output],
    like: Mapping[str, str],
    parsers: Mapping[str, Parser] = PARSERS,
    worse: Worse = lambda _step, _figure: "",
) -> tuple[Result, ...]:
    """
    Return a result a step, in the steps' order.

    Args:
        steps: What was to run.
        outputs: What was printed, by step; a step without an output did not run.
        like: The system of each host: hosts of one system have the same slots.
        parsers: By name; more than the usual ones where a caller has some.
        worse: What a figure is held against beside its limits: what was measured before.
    """
    read = {step.id: _read(step, outputs.get(step.id), parsers) for step in steps}
    facts: dict[str, dict[str, str]] = {}
    for step in steps:
        found = read[step.id]
        if isinstance(found, Reading):
            facts.setdefault(step.host, {}).update(found.facts)
    results = [_result(step, outputs.get(step.id), read[step.id], _Floor(facts, like, worse)) for step in steps]
    return blame(results)


def _read(step: Step, output: Output | None, parsers: Mapping[str, Parser]) -> Reading | str:
    """Return what an output says, or why it says nothing."""
    if output is None:
        return f"{step.host} did not run it: it was not reached, or the run ended before"
    if output.status is None or output.status == NOT_FOUND:
        return output.why or f"{step.argv[0]} is not installed on {step.host}"
    if not output.whole:
        return f"{step.argv[0]} printed more than is kept"
    try:
        found = parsers[step.parser](output.text, step.expects)
    except CannotTellError as error:
        return f"{error} (exit status {output.status})" if output.status else str(error)
    if output.status != 0 and not found.faults:
        return f"{step.argv[0]} ended with {output.status} and told no fault"
    return found


@dataclass(frozen=True, slots=True)
class _Floor:
    """What is known beside a step: parts of all hosts by host, their systems, and what was before."""

    facts: Mapping[str, Facts]
    like: Mapping[str, str]
    worse: Worse


def _result(step: Step, output: Output | None, found: Reading | str, known: _Floor) -> Result:
    seconds = output.seconds if output else 0.0
    if isinstance(found, str):
        return Result(step=step, status="could-not-tell", reasons=(Reason(what=found),), seconds=seconds)
    own = known.facts.get(step.host, {})
    reasons = [Reason(what=fault.what, part=part_of(fault.where, step, own)) for fault in found.faults]
    reasons = [_with_slot(reason, step, known.facts, known.like) for reason in reasons]
    reasons += _against_limits(step, found.measured, own)
    reasons += _against_before(step, found.measured, own, known.worse)
    if reasons:
        return Result(step=step, status="failed", reasons=tuple(reasons), measured=found.measured, seconds=seconds)
    unlimited = tuple(_unjudged(step.limits, found.measured))
    return Result(
        step=step,
        status="measured" if unlimited else "passed",
        reasons=unlimited,
        measured=found.measured,
        seconds=seconds,
    )


def _with_slot(reason: Reason, step: Step, facts: Mapping[str, Facts], like: Mapping[str, str]) -> Reason:
    """Name the slot of a GPU that is gone, where like hosts tell which one it is."""
    if reason.part is not None and (reason.part.kind != "gpu" or reason.part.slot is not None):
        return reason
    if " GPUs" not in reason.what or step.expects.get("gpus") is None:
        return reason
    others = [host for host in facts if host != step.host and like.get(host) == like.get(step.host)]
    slots = empty_slots(step.host, facts, others)
    if not slots:
        return reason
    name = reason.part.name if reason.part else f"{step.host} GPU"
    return Reason(what=reason.what, part=Part(kind="gpu", name=name, slot=" and ".join(slots)))


def _against_limits(step: Step, measured: Iterable[Measured], facts: Facts) -> Iterator[Reason]:
    """Yield a reason for each figure that is beyond its limit."""
    limits = {limit.metric: limit for limit in step.limits if limit.value is not None}
    for figure in measured:
        limit = limits.get(figure.metric)
        if limit is None or limit.value is None:
            continue
        if figure.value < limit.value if limit.kind == "floor" else figure.value > limit.value:
            side = "under" if limit.kind == "floor" else "over"
            what = f"{figure.metric} is {figure.value:g}, {side} the {limit.kind} of {limit.value:g} ({limit.source})"
            yield Reason(what=what, part=part_of(figure.where, step, facts))


def _against_before(step: Step, measured: Iterable[Measured], facts: Facts, worse: Worse) -> Iterator[Reason]:
    """Yield a reason for each figure that is worse than it was."""
    for figure in measured:
        if what := worse(step, figure):
            yield Reason(what=what, part=part_of(figure.where, step, facts))


def _unjudged(limits: Iterable[Limit], measured: Sequence[Measured]) -> Iterator[Reason]:
    """Yield a note for each limit that nobody gave, and for a metric that was to be judged and was not measured."""
    metrics = {figure.metric for figure in measured}
    for limit in limits:
        if limit.metric not in metrics:
            yield Reason(what=f"{limit.metric} was not measured")
        elif limit.value is None:
            yield Reason(what=f"{limit.metric} is measured, not judged: no {limit.kind} is known for this system")
