"""What `coldaisle health` keeps between two runs, below the site's state folder: what it knows, and tickets."""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldaisle.cli.collection import use_collection
from coldaisle.cli.output import write_output
from coldaisle.health.readings import Cursors
from coldaisle.health.state import State, StateError, as_json, from_json, moved

use_collection()
from ansible_collections.coldaisle.site.plugins.module_utils.steady import (  # noqa: E402 - needs that path
    Moment,
    moment,
    set_since_s,
    stamp,
    ticking,
)

if TYPE_CHECKING:
    from coldaisle.health.tickets import Ticket

__all__ = ["BusyError", "Kept", "add_ticket", "alone", "in_step", "load", "moment", "save", "ticking"]

TICKETS = "tickets.jsonl"
CLOCK_IS_SET_S = 1.0
"""By less a clock is slewed, and not set."""


class BusyError(Exception):
    """Another run works on the same site."""


@dataclass(frozen=True, slots=True)
class Kept:
    """
    What is known of a site, and where the next reading of each node begins.

    `at` is when it was written down, as a record of `steady` has it; empty where that is not known.
    """

    state: State = field(default_factory=State)
    cursors: Mapping[str, Cursors] = field(default_factory=dict)
    at: Mapping[str, Any] = field(default_factory=dict)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """
    Keep other runs away as long as this lasts; a lock goes with its process.

    Raises:
        BusyError: another run has it.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / "lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"another `coldaisle health` is at work ({folder / 'lock'})") from None
        yield


def load(folder: Path) -> Kept:
    """
    Return what the runs before have kept.

    Raises:
        StateError: the file is damaged, or of another release.
    """
    file = folder / "state.json"
    if not file.is_file():
        return Kept()
    try:
        body: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        cursors = {name: Cursors(**it) for name, it in body["cursors"].items()}
        return Kept(from_json(body["state"]), cursors, body.get("at", {}))
    except (ValueError, KeyError, TypeError) as error:
        what = error if isinstance(error, StateError) else f"{type(error).__name__}: {error}"
        raise StateError(
            f"{file}: {what}\n  fix: move it away; nodes are then read anew, and ladders begin anew"
        ) from None


def in_step(kept: Kept, now: Moment) -> tuple[Kept, float]:
    """
    Return what is known by the clock as it is now, and by how many seconds that was set since.

    A clock that is set must neither end what counts for an hour, nor make it count for a day.
    """
    set_s = set_since_s(kept.at, now)
    at = stamp(now)
    if abs(set_s) < CLOCK_IS_SET_S:
        return replace(kept, at=at), 0.0
    return replace(kept, state=moved(kept.state, set_s), at=at), set_s


def save(folder: Path, kept: Kept) -> None:
    """Write down what is known, whole or not at all."""
    cursors = {name: asdict(it) for name, it in sorted(kept.cursors.items())}
    body = {"state": as_json(kept.state), "cursors": cursors, "at": dict(kept.at)}
    write_output(folder / "state.json", json.dumps(body) + "\n")


def add_ticket(folder: Path, ticket: Ticket) -> None:
    """
    Add a ticket as a line.

    Raises:
        OSError: it cannot be written.
    """
    with (folder / TICKETS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(ticket.as_json(), ensure_ascii=False) + "\n")
