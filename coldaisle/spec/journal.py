"""
The journal of a site's nodes: in which state each is, and who brought it there, when and why.

It is a file beside allocations.yaml, a line a step, and nothing is ever changed in it (ADR 0011). What counts is the
order of the lines and the number of each node's step, never a clock: one that jumps back reorders nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from coldaisle.paths import shown
from coldaisle.spec.base import SpecModel
from coldaisle.spec.problem import Problem
from coldaisle.words import JOURNAL_FILE

State = Literal["enroll", "inspect", "verify", "provision", "accept", "in-service", "maintenance", "repair", "retired"]
"""States of a node, in the words of OpenStack Ironic where it has one."""

EARLY: frozenset[str] = frozenset({"enroll", "inspect", "verify"})
"""States in which nobody has said yet that the machine is the planned one: no play touches it."""

HELD: frozenset[str] = frozenset({"maintenance", "repair"})
"""States in which a person works on the machine: no play touches it, and no drift counts."""

UNTOUCHED = EARLY | HELD

RETIRED = "retired"

GONE = "gone"
"""Key of a step's details: what has left a node, each by its place in the delivery list."""
TAKEN_BACK = "taken_back"
"""Key of a step's details: hardware that was gone, and that may be used again."""

_CONFLICT = re.compile(r"(<{7}|={7}|>{7}|\|{7})( |$)")
"""What git leaves in a file that two branches have changed."""


class Step(SpecModel):
    """
    One step of one node.

    `step` counts the node's own steps from 1. `was` is None at the first. `when` is ISO 8601 in UTC, as the machine's
    clock had it; `plan` is the hash of the plan that the step was taken under.
    """

    node: str = Field(min_length=1)
    step: int = Field(ge=1)
    was: State | None
    state: State
    who: str = Field(min_length=1)
    when: str
    why: str = Field(min_length=1)
    plan: str
    details: Mapping[str, Any] = Field(default_factory=dict)

    def line(self) -> str:
        """Return the step as a line of the journal, without its end."""
        return self.model_dump_json()

    @property
    def text(self) -> str:
        """Return who brought the node where it is, in words."""
        return f"{self.node} is in {self.state} since {self.when}: {self.who} ({self.why})"


@dataclass(frozen=True)
class Journal:
    """
    The steps of all nodes, in the order in which they were written down.

    `torn` is a last line that somebody began and did not finish: a step that was never acknowledged.
    """

    steps: tuple[Step, ...] = ()
    torn: str = ""

    @cached_property
    def last(self) -> dict[str, Step]:
        """Return the last step of each node that has one."""
        return {step.node: step for step in self.steps}

    def of(self, node: str) -> tuple[Step, ...]:
        """Return the steps of a node, the oldest first."""
        return tuple(step for step in self.steps if step.node == node)

    @cached_property
    def states(self) -> dict[str, State]:
        """Return the state of each node that has one."""
        return {name: step.state for name, step in self.last.items()}

    @cached_property
    def gone(self) -> dict[str, Step]:
        """Return what has left a node (a serial, a MAC address), in lower case, with the step at which it left."""
        found: dict[str, Step] = {}
        for step in self.steps:
            for label in step.details.get(GONE, {}).values():
                found[str(label).lower()] = step
            for label in step.details.get(TAKEN_BACK, []):
                found.pop(str(label).lower(), None)
        return found


def read_journal(folder: Path) -> tuple[Journal, tuple[Problem, ...]]:
    """Return the journal of a site's folder (an empty one without the file), and everything that is wrong with it."""
    path = folder / JOURNAL_FILE
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Journal(), ()
    except OSError as error:
        what = f"the journal cannot be read: {error.strerror}"
        return Journal(), (_problem_at("bad-journal", shown(path), 1, what, "make it readable for this user"),)
    return parse_journal(data, shown(path))


def parse_journal(data: bytes, file: str) -> tuple[Journal, tuple[Problem, ...]]:
    """
    Return the journal that some bytes hold, and every problem.

    Only the last line may be a half of one, and only where it has no end: then it alone is left out.
    """
    *whole, tail = data.split(b"\n")
    steps: list[tuple[int, Step]] = []
    problems: list[Problem] = []
    for number, line in enumerate(whole, start=1):
        found = _step(line)
        if isinstance(found, Step):
            steps.append((number, found))
        else:
            problems.append(_broken(file, number, line, found))
    last = _step(tail) if tail else None
    if isinstance(last, Step):  # an editor took the end of the line away, and nothing else
        steps.append((len(whole) + 1, last))
    problems += _out_of_step(steps, file)
    return Journal(
        tuple(step for _, step in steps), "" if isinstance(last, Step) else tail.decode(errors="replace")
    ), tuple(problems)


def _step(line: bytes) -> Step | str:
    """Return the step of a line, or what is wrong with it."""
    try:
        return Step.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'])) or 'the line'}: {first['msg']}"


def _broken(file: str, number: int, line: bytes, why: str) -> Problem:
    text = line.decode(errors="replace")
    if _CONFLICT.match(text):
        fix = "keep the lines of both sides and remove the marks; then run coldaisle check"
        return _problem_at("bad-journal", file, number, "git has merged the journal halfway", fix, text)
    fix = "take the line back from git (git log -p): nothing in the journal is changed, and nothing removed"
    return _problem_at("bad-journal", file, number, f"this is no step of a node: {why}", fix, text[:80])


def _out_of_step(steps: list[tuple[int, Step]], file: str) -> list[Problem]:
    """Return a problem for each step that does not follow the one before it of its node."""
    last: dict[str, tuple[int, Step]] = {}
    found: list[Problem] = []
    for number, step in steps:
        line, before = last.get(step.node, (0, None))
        count, state = (before.step, before.state) if before else (0, None)
        if before and step.step <= count:
            what = f"two people have moved {step.node} on from the same state"
            have = f"step {step.step} by {step.who} ({step.why}), and line {line}: {before.text}"
            fix = "decide which one holds; take the other line out, and do its step again with coldaisle node"
            found.append(_problem_at("journal-conflict", file, number, what, fix, have))
        elif step.step != count + 1 or step.was != state:
            what = f"step {step.step} of {step.node} does not follow step {count}: it was {step.was or 'nothing'}"
            fix = "take the missing lines back from git"
            have = f"{step.node} was in {state}" if state else ""
            found.append(_problem_at("bad-journal", file, number, what, fix, have))
        last[step.node] = (number, step)
    return found


def _problem_at(  # noqa: PLR0913, PLR0917 - the parts of a problem
    check: str, file: str, number: int, what: str, fix: str, have: str = ""
) -> Problem:
    return Problem(check=check, where=f"{file}:{number}:1", path="", what=what, have=have, fix=fix)
