"""What a command of the engine says while it works, from its log of events, which is read as it grows."""

from __future__ import annotations

import json
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from coldaisle.cli.progress import Say

LOOK_S = 0.5
"""Seconds between two looks at the log."""

PASSING = '"ephemeral":true'
"""Stands in each line of the log that is a resource's present state; all others may be long, and are not parsed."""

COLOUR = re.compile(r"<\{%.*?%\}>")
"""The engine's own marks for colours."""


@contextmanager
def followed(say: Say) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Give the options and the environment with which a command of the engine writes its log; say what it tells."""
    with tempfile.TemporaryDirectory(prefix="coldaisle-") as folder:
        (log := Path(folder) / "events").touch()
        ended = threading.Event()
        with log.open(encoding="utf-8") as lines:
            follower = threading.Thread(target=_follow, args=(lines, say, ended), daemon=True)
            follower.start()
            try:
                # Pulumi's Automation API asks for the log in this way, too: the option is not in the help otherwise.
                yield ["--event-log", str(log)], {"PULUMI_DEBUG_COMMANDS": "true"}
            finally:
                ended.set()
                follower.join()


def _follow(lines: TextIO, say: Say, ended: threading.Event) -> None:
    rest = ""
    while not ended.wait(LOOK_S):
        *whole, rest = (rest + lines.read()).split("\n")
        # The engine empties a resource's line by a message of nothing.
        said = [text for line in whole if PASSING in line and (text := message(line))]
        if said:
            say(said[-1])


def message(line: str) -> str:
    """Return what a line of the log says to a person."""
    return COLOUR.sub("", json.loads(line)["diagnosticEvent"]["message"]).strip()
