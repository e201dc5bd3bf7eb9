"""Progress of long commands: in place on a terminal, a line now and then in a log, and none of a short one."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coldaisle.cli import engine_events, progress

COUNTING = "from coldaisle.cli.progress import progress\nwith progress('reading') as say: say('2 of [3] hosts')"


def test_a_log_has_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What is said in between is left out, and standard output is the command's own."""
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with progress.progress("reading") as say:
        for now in (109.0, 110.0, 119.0, 121.0):
            say(f"at {now:.0f}")
    assert capsys.readouterr() == ("", "reading: at 110\nreading: at 121\n")


def test_a_terminal_has_one_line_that_is_gone_at_the_end() -> None:
    """At once, with brackets as they are, and the cursor is back."""
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb", buffering=0) as terminal:
        settings = {**os.environ, "TERM": "xterm"}
        subprocess.run([sys.executable, "-c", COUNTING], env=settings, stderr=follower, check=True)
        os.close(follower)
        said = terminal.read(65536).decode()
    assert "reading: 2 of [3] hosts" in said
    assert said.rstrip().endswith(("\x1b[?25h", "\x1b[2K"))


def test_what_a_resource_says_of_itself_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole lines only, the last that says something; what stays, such as a resource's state, is not looked at."""
    monkeypatch.setattr(engine_events, "LOOK_S", 0.01)
    said: list[str] = []
    with engine_events.followed(said.append) as (options, settings):
        assert settings == {"PULUMI_DEBUG_COMMANDS": "true"}
        [_, log] = options
        with Path(log).open("a", encoding="utf-8") as lines:
            line = _passing("1 of 2<{%reset%}>\n")
            lines.write('{"resourcePreEvent":{}}\n' + line[:-5])
            lines.flush()
            time.sleep(0.2)  # it is looked at some times
            lines.write(line[-5:] + _passing("<{%reset%}>"))
            lines.flush()
            _until_something_is(said)
    assert said == ["1 of 2"]
    assert not Path(log).exists()


def _passing(message: str) -> str:
    event = {"diagnosticEvent": {"message": message, "ephemeral": True}}
    return json.dumps(event, separators=(",", ":")) + "\n"


def _until_something_is(said: list[str]) -> None:
    end = time.monotonic() + 10
    while not said and time.monotonic() < end:
        time.sleep(0.01)
