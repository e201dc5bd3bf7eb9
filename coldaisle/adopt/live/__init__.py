"""
Sources that are asked while they run. Each gives texts in the form that its reader takes of files.

So a reader knows nothing of the network, what was read can be kept and read again, and a site that was adopted live and
one that was adopted from exports differ in nothing. Asking changes nothing: every question here is a read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from coldaisle.adopt.facts import Source, Untold

Item = TypeVar("Item")
Answer = TypeVar("Answer")

Files = Mapping[str, str]

Say = Callable[[str], None]
"""Takes a line that says how far the asking is."""


def quiet(line: str) -> None:
    """Tell nobody."""
    del line


class AskError(Exception):
    """A source as a whole cannot be asked; the message says why, and what to look at."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a live source gave: the files of each source that it stands for, by name, and what was not told."""

    files: Mapping[Source, Files] = field(default_factory=dict)
    untold: tuple[Untold, ...] = ()


class Live(Protocol):
    """A source that can be asked now."""

    @property
    def name(self) -> str:
        """How it is called in messages: what it is, and where."""

    def take(self, say: Say = quiet) -> Taken:
        """
        Ask, and return all that was told; `say` is told how far it is.

        Raises:
            AskError: the source as a whole does not answer.
        """


def beside(
    ask: Callable[[Item], Answer | str], items: Sequence[Item], at_once: int, say: Say = quiet
) -> list[Answer | str]:
    """Ask for all items, so many at once, and return the answers in the order of the items; one in words is none."""
    silent = 0
    with ThreadPoolExecutor(max(1, min(at_once, len(items)))) as pool:
        answers = [pool.submit(ask, item) for item in items]
        for asked, done in enumerate(as_completed(answers), start=1):
            silent += isinstance(done.result(), str)
            say(f"{asked} of {len(items)} asked" + (f", {silent} without an answer" if silent else ""))
    return [answer.result() for answer in answers]
