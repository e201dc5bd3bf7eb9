"""
Writing the journal: one whole line at a time, by one writer at a time, on the disk before anybody is told.

What a step follows is said by who takes it (`Known`), and looked at again under the lock. So of two people who begin
from the same state, one is refused and told of the other. A branch of git can still hold both: then the numbers of the
steps meet, and reading the journal says so (`journal-conflict`).
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coldaisle.life.states import OWNED, refusal
from coldaisle.spec.journal import Journal, State, Step, parse_journal
from coldaisle.spec.problem import SpecError
from coldaisle.words import JOURNAL_FILE

WAIT_S = 10.0
"""How long one writer waits for another: a step is written in milliseconds."""
POLL_S = 0.02


class LifeError(Exception):
    """A step was not taken; the message says what stands against it, and what to do."""


class HeldError(LifeError):
    """Somebody else was quicker, or is at work on the node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """
    A step that somebody wants to take.

    `after` is the number of the node's last step as the person has seen it, 0 where there was none. `take_over` takes
    a node out of the hands of who is at work on it.
    """

    node: str
    to: State
    after: int
    who: str
    why: str
    plan: str
    details: Mapping[str, Any] = field(default_factory=dict)
    take_over: bool = False


def record(folder: Path, wanted: Wanted, now: datetime) -> Step:
    """
    Write a step down, and return it once it is on the disk.

    Args:
        folder: The site's folder.
        wanted: The step.
        now: The time that the clock shows. It is written down and decides nothing.

    Raises:
        HeldError: the node is not where the person has seen it, or somebody else is at work on it.
        LifeError: the table of steps has no such step, or the journal cannot be written.
        SpecError: the journal is broken; nothing is written after a line that cannot be read.

    """
    path = folder / JOURNAL_FILE
    try:
        with _alone(path) as handle:
            journal, end = _whole(handle, path)
            step = next_step(journal, wanted, now)
            _append(handle, end, step.line().encode() + b"\n")
            return step
    except OSError as error:
        raise LifeError(f"{path} was not changed: {error.strerror}\n  fix:  make room there, and try again") from error


@contextmanager
def _alone(path: Path) -> Iterator[int]:
    """Open the journal for one writer; a process that is killed lets go of it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise HeldError(f"another process writes {path} since {WAIT_S:g} s; look for it") from None
                time.sleep(POLL_S)
        yield handle
    finally:
        os.close(handle)


def _whole(handle: int, path: Path) -> tuple[Journal, int]:
    """Return the journal, and where its next line begins: in place of one that was never finished."""
    with os.fdopen(os.dup(handle), "rb") as opened:
        opened.seek(0)
        data = opened.read()
    journal, problems = parse_journal(data, str(path))
    if problems:
        raise SpecError(problems)
    if journal.torn:
        return journal, data.rfind(b"\n") + 1
    if data and not data.endswith(b"\n"):
        os.pwrite(handle, b"\n", len(data))
        return journal, len(data) + 1
    return journal, len(data)


def _append(handle: int, end: int, line: bytes) -> None:
    """Write a line behind the end and wait for the disk; one that does not fit leaves the journal as it was."""
    os.ftruncate(handle, end)
    try:
        written = 0
        while written < len(line):
            written += os.pwrite(handle, line[written:], end + written)
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, end)
        raise


def next_step(journal: Journal, wanted: Wanted, now: datetime) -> Step:
    """
    Return the step that would be written down.

    Raises:
        HeldError: the node is not where the person has seen it, or somebody else is at work on it.
        LifeError: the table of steps has no such step.

    """
    last = journal.last.get(wanted.node)
    if (last.step if last else 0) != wanted.after:
        told = last.text if last else f"{wanted.node} has no step any more"
        raise HeldError(f"{told}\n  that is news since this command began; nothing was done.\n  fix:  talk to them")
    if last and last.state in OWNED and last.who != wanted.who and not wanted.take_over:
        raise HeldError(f"{last.text}\n  fix:  talk to them; --take-over takes it out of their hands")
    was = last.state if last else None
    refused = refusal(was, wanted.to)
    if refused:
        raise LifeError(f"{wanted.node}: {refused.why}\n  fix:  {refused.fix}")
    return Step(
        node=wanted.node,
        step=wanted.after + 1,
        was=was,
        state=wanted.to,
        who=wanted.who,
        when=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        why=wanted.why,
        plan=wanted.plan,
        details=dict(wanted.details),
    )
