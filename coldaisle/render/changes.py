"""Budgets before and after a change of the spec: the same lines as text, Markdown, and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from coldaisle.plan.budgets import Budget, Change, alike
from coldaisle.units import counted, grouped, percent

COLUMNS = ("what", "budget", "before", "after", "limit", "of the limit")


@dataclass(frozen=True, slots=True)
class Line:
    """What reads the same of some budgets, as cells of a table; `over` tells that the limit is passed now."""

    cells: tuple[str, ...]
    over: bool


def lines(changes: Sequence[Change]) -> tuple[Line, ...]:
    """Return the changed budgets as lines, those that read the same as one."""
    return tuple(_line(names, change) for names, change in alike(changes))


def _line(names: tuple[str, ...], change: Change) -> Line:
    what = names[0] if len(names) == 1 else f"{names[0]} … {names[-1]} ({len(names)})"
    now = change.after
    over = now is not None and (now.part or 0.0) > 1
    cells = (what, f"{change.budget.kind} {change.budget.figure}", _value(change.before), _value(change.after))
    return Line((*cells, _limit(change), _parts(change)), over)


def _parts(change: Change) -> str:
    """Return how much of the limit is reached, before and after; what is over it is marked."""
    parts = [_part(side) for side in (change.before, change.after) if side is not None and side.limit is not None]
    return " -> ".join(dict.fromkeys(parts))


def _part(budget: Budget) -> str:
    part = percent(budget.value, budget.limit or 0.0)
    return f"! {part}" if (budget.part or 0.0) > 1 else part


def _value(budget: Budget | None) -> str:
    return "not there" if budget is None else _amount(budget.value, budget.unit)


def _limit(change: Change) -> str:
    """Return the limit, and what it was where it has changed."""
    now, then = (None if side is None else side.limit for side in (change.after, change.before))
    unit = change.budget.unit
    if change.before is None or change.after is None or now == then:
        limit = now if change.after else then
        return "" if limit is None else _amount(limit, unit)
    return f"{_amount(then, unit)} -> {_amount(now, unit)}"


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "unknown"
    # A breaker's currents are small numbers: whole amperes would hide what has changed.
    return f"{value:.1f} A" if unit == "A" else f"{grouped(value)} {unit}"


def headline(changes: Sequence[Change]) -> str:
    """Return how many budgets differ, and how many of them are over their limits now."""
    over = sum((change.after.part or 0.0) > 1 for change in changes if change.after)
    if not changes:
        return "No budget differs."
    return (
        f"{counted(len(changes), 'budget')} {'differs' if len(changes) == 1 else 'differ'}; {over} over the limit now."
    )


def as_markdown(title: str, changes: Sequence[Change]) -> str:
    """Return the change as a comment of a pull request: a headline, and the table folded."""
    head = f"### {title}\n\n{headline(changes)}\n"
    found = lines(changes)
    if not found:
        return head
    rows: list[tuple[str, ...]] = [COLUMNS, ("---", "---", "--:", "--:", "--:", "--:")]
    rows += [tuple(f"**{cell}**" if line.over and cell else cell for cell in line.cells) for line in found]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{head}\n<details><summary>Budgets before and after</summary>\n\n{table}\n\n</details>\n"


def as_json(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Return every changed budget by itself: its kind, name and figure, and its value and limit on both sides."""
    return [
        {
            "kind": change.budget.kind,
            "name": change.budget.name,
            "figure": change.budget.figure,
            "unit": change.budget.unit,
            "before": _side(change.before),
            "after": _side(change.after),
        }
        for change in changes
    ]


def _side(budget: Budget | None) -> dict[str, float | None] | None:
    return None if budget is None else {key: asdict(budget)[key] for key in ("value", "limit")}
