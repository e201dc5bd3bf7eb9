"""What is known between two ticks, as a record that is written down and read back without a loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from coldaisle.health.conditions import Condition
from coldaisle.health.events import Event
from coldaisle.health.ladder import Ladder
from coldaisle.health.limits import Taken

SCHEMA_VERSION = "1"


class StateError(ValueError):
    """A record is not one of ours; the message says where."""


@dataclass(frozen=True, slots=True)
class State:
    """
    Everything that a tick needs of those before it.

    Args:
        events: Those that still count, sorted.
        conditions: Of all nodes.
        ladders: The newest of each node.
        taken: Actions of the last hour.
        parts: By node and part what tells it from others (serial, UUID), as it was last read: a part that is gone
            cannot be asked any more.
    """

    events: tuple[Event, ...] = ()
    conditions: tuple[Condition, ...] = ()
    ladders: tuple[Ladder, ...] = ()
    taken: tuple[Taken, ...] = ()
    parts: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)

    def ladder(self, node: str) -> Ladder | None:
        """Return the newest ladder of a node."""
        return next((ladder for ladder in self.ladders if ladder.node == node), None)


def moved(state: State, by_s: float) -> State:
    """Return the state with all of its times moved: the clock was set, and what is a minute ago stays a minute ago."""
    return State(
        tuple(replace(it, seen_at=it.seen_at + by_s) for it in state.events),
        tuple(replace(it, last_transition=it.last_transition + by_s) for it in state.conditions),
        tuple(_moved_ladder(it, by_s) for it in state.ladders),
        tuple(replace(it, at=it.at + by_s) for it in state.taken),
        state.parts,
    )


def _moved_ladder(ladder: Ladder, by_s: float) -> Ladder:
    return replace(
        ladder,
        begun_at=ladder.begun_at + by_s,
        since=ladder.since + by_s,
        tried=tuple(replace(it, at=it.at + by_s) for it in ladder.tried),
        evidence=tuple(replace(it, seen_at=it.seen_at + by_s) for it in ladder.evidence),
    )


def as_json(state: State) -> dict[str, Any]:
    """Return the state as JSON has it."""
    return {"schema_version": SCHEMA_VERSION, **asdict(state)}


def from_json(record: Mapping[str, Any]) -> State:
    """
    Return the state that was written down.

    Raises:
        StateError: the record is of another version, or damaged.
    """
    version = record.get("schema_version")
    if version != SCHEMA_VERSION:
        raise StateError(f"its schema_version is {version}, and this release reads {SCHEMA_VERSION}")
    try:
        body = {name: value for name, value in record.items() if name != "schema_version"}
        return TypeAdapter(State).validate_python(body)
    except ValidationError as error:
        first = error.errors()[0]
        raise StateError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
