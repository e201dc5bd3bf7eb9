"""What is told of problems and findings, in the same words on the command line and in a Pulumi preview."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldaisle.spec.problem import Problem


def report(problems: Sequence[Problem]) -> str:
    """Return every problem in full, then how many there are; an empty text when there are none."""
    if not problems:
        return ""
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    counts = [_count(errors, "problem")] if errors else []
    counts += [_count(warnings, "warning")] if warnings else []
    first = next((problem for problem in problems if problem.severity == "error"), problems[0])
    changed = "; nothing was changed." if errors else "."
    last = f"{' and '.join(counts)}{changed}   See docs/errors.md#{first.check}"
    return "\n".join([*(problem.text() for problem in problems), last])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
