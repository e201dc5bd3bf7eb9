"""How a mistake is told: where, what, have, fix. Spec problems and findings of the checks print alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from coldaisle.spec.sections import SiteSpec

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """
    Something wrong in a spec.

    `check` is a stable id, documented in docs/errors.md. `where` is `file:line:column`, `path` the value's place in the
    spec (`racks[r03].feeds[a]`); either may be empty when there is no such place.
    """

    check: str
    where: str
    path: str
    what: str
    have: str
    fix: str
    severity: Severity = "error"

    def text(self) -> str:
        """Return the problem as a person reads it: a line for the place, then what, have and fix."""
        head = "  ".join(part for part in (self.where, self.path, self._tag()) if part)
        lines = [head, f"  what: {self.what}"]
        lines += [f"  have: {self.have}"] if self.have else []
        lines += [f"  fix:  {self.fix}"] if self.fix else []
        return "\n".join(lines)

    def _tag(self) -> str:
        return f"[{self.check}]" if self.severity == "error" else f"[{self.check}, warning]"


def _place(problem: Problem) -> tuple[str, int, int]:
    file, _, position = problem.where.partition(".yaml:")
    line, _, column = position.partition(":")
    return (file, int(line) if line.isdigit() else 0, int(column) if column.isdigit() else 0)


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems by file, line and column, each once."""
    return tuple(sorted(set(problems), key=lambda p: (_place(p), p.check, p.path, p.what)))


def section_of(problem: Problem) -> str:
    """Return the section that a problem's path begins with."""
    return problem.path.partition(".")[0].partition("[")[0]


class SpecError(Exception):
    """
    A spec cannot be used.

    `problems` holds all that is wrong with it. `rest` is the spec without those parts, where that is still a whole
    one: good for looking for further mistakes, and for nothing else.
    """

    def __init__(self, problems: Iterable[Problem], rest: SiteSpec | None = None) -> None:
        """Keep the problems, in order."""
        self.problems = in_order(problems)
        self.rest = rest
        super().__init__("\n".join(problem.text() for problem in self.problems))
