"""
The three answers to "is it as planned?".

A host that does not answer is neither as planned nor drifted, and must be counted as neither: a report that takes
silence for health, or for damage, is worse than none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldaisle.drift.equality import Fact, same
from coldaisle.words import LIFE

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Same:
    """As planned."""


@dataclass(frozen=True, slots=True)
class Drifted:
    """Not as planned. `seen` is None where the thing is not there."""

    planned: Fact
    seen: Fact


@dataclass(frozen=True, slots=True)
class CouldNotTell:
    """Not known, and why; `since` is an ISO 8601 time, None where it is not known either."""

    why: str
    since: str | None = None


Answer = Same | Drifted | CouldNotTell

NOT_FACTS = frozenset({"varsDigest", LIFE})
"""Keys beside a host's facts that say what was applied, or why nothing is; no host can be asked for them."""


def compare(
    planned: Mapping[str, Fact],
    seen: Mapping[str, Fact],
    errors: Mapping[str, str],
    since: str | None = None,
) -> dict[str, Answer]:
    """
    Compare one host's facts with its plan.

    Args:
        planned: What the plan owns; other things that were seen are not compared.
        seen: What was read.
        errors: By fact, why it could not be read; a fact in neither map could not be read either.
        since: Since when the host does not answer.

    """
    return {name: _answer(name, value, seen, errors, since) for name, value in planned.items() if name not in NOT_FACTS}


def _answer(name: str, planned: Fact, seen: Mapping[str, Fact], errors: Mapping[str, str], since: str | None) -> Answer:
    if name in errors:
        return CouldNotTell(errors[name], since)
    if name not in seen:
        return CouldNotTell("the host did not report it", since)
    return Same() if same(name, planned, seen[name]) else Drifted(planned, seen[name])
