"""How far a long command is, on standard error: a line that is rewritten on a terminal, one now and then in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

QUIET_S = 10.0
"""Seconds between two lines of a log, and before its first one: a command that is over sooner writes none."""

Say = Callable[[str], None]
"""Takes a line that says how far it is."""


@contextmanager
def progress(what: str) -> Iterator[Say]:
    """Show `what` is being done, and how far it is by what is said of it, until the block ends."""
    from rich.console import Console  # noqa: PLC0415 - most commands are over before anybody looks
    from rich.text import Text  # noqa: PLC0415

    console = Console(stderr=True)
    if console.is_terminal:
        with console.status(Text(what)) as status:
            yield lambda line: status.update(Text(f"{what}: {line}"))
    else:
        yield _seldom(lambda line: typer.echo(f"{what}: {line}", err=True))


def _seldom(say: Say) -> Say:
    said_at = time.monotonic()

    def told(line: str) -> None:
        nonlocal said_at
        if (now := time.monotonic()) - said_at >= QUIET_S:
            said_at = now
            say(line)

    return told
