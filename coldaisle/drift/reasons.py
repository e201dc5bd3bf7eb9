"""
The line in which the provider says that it could not tell, and its reading back.

The engine carries reasons as text only, so the one who writes a line and the one who reads it must be neighbours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(
    r"(?P<host>[^\s:]+): could not tell(?: since (?P<since>\S+))?: (?P<facts>[^:]+): (?P<why>.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Untold:
    """Facts of one host that could not be read, for one reason."""

    host: str
    facts: tuple[str, ...]
    why: str
    since: str | None = None


def write(untold: Untold) -> str:
    """Return the line."""
    since = f" since {untold.since}" if untold.since else ""
    return f"{untold.host}: could not tell{since}: {', '.join(untold.facts)}: {untold.why}"


def read(line: str) -> Untold | None:
    """Return what a line says; None where it says something else (why a run has failed, say)."""
    match = _LINE.fullmatch(line.strip())
    if match is None:
        return None
    facts = tuple(name.strip() for name in match["facts"].split(","))
    return Untold(match["host"], facts, match["why"].strip(), match["since"])
