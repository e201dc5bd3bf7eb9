"""A site's nodes in states: steps that are written down by the product's own writer."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from coldaisle.life.journal import Wanted, record
from coldaisle.spec.journal import State, read_journal

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
ALICE = "alice@deploy"


def move(folder: Path, node: str, *states: State, who: str = ALICE, details: dict[str, object] | None = None) -> None:
    """Take a node through states; `details` belong to the last of them."""
    for at, state in enumerate(states, start=1):
        known, _ = read_journal(folder)
        after = len(known.of(node))
        said = details or {} if at == len(states) else {}
        record(folder, Wanted(node=node, to=state, after=after, who=who, why="a test", plan="", details=said), NOON)
