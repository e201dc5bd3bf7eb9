"""Children that answer questions: used again, replaced when one dies, ended when nobody asks any more."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from components.provider import children
from components.provider.children import Children
from components.provider.events import LINE_LIMIT_BYTES

Use = Callable[[Children], Awaitable[Any]]


def answer(question: Any) -> Any:  # noqa: ANN401 - JSON
    """Do what a question says, and tell who did it."""
    if question == "die":
        os._exit(3)
    if question == "break":
        raise ValueError(question)
    if question == "shout":
        return "x" * LINE_LIMIT_BYTES
    time.sleep(question)
    return os.getpid()


async def one_after_the_other(those: Children) -> Any:  # noqa: ANN401 - JSON
    """Ask more than one child answers."""
    return [await those.ask(0) for _ in range(children.QUESTIONS + 1)]


async def quick_ones_at_once(those: Children) -> Any:  # noqa: ANN401 - JSON
    """Ask many that answer soon."""
    return await asyncio.gather(*(those.ask(0.01) for _ in range(20)))


async def slow_ones_at_once(those: Children) -> Any:  # noqa: ANN401 - JSON
    """Ask some that answer late."""
    return await asyncio.gather(*(those.ask(4.0) for _ in range(8)))


async def one_that_dies(those: Children) -> Any:  # noqa: ANN401 - JSON
    """Ask one that dies, one whose answer fails, and one more."""
    return [str(it) for it in await asyncio.gather(*map(those.ask, ("die", "break", 0)), return_exceptions=True)]


async def one_that_dies_while_it_is_free(those: Children) -> Any:  # noqa: ANN401 - JSON
    """Ask one, let it be killed when it has answered, and ask again."""
    first = await those.ask(0)
    os.kill(first, signal.SIGKILL)
    await asyncio.sleep(0.2)
    return [first, await those.ask(0)]


async def one_that_says_too_much(those: Children) -> Any:  # noqa: ANN401 - JSON
    """Ask for an answer that is too long, and one more."""
    return [str(it) for it in await asyncio.gather(*map(those.ask, ("shout", 0)), return_exceptions=True)]


async def one_that_hangs(those: Children) -> Any:  # noqa: ANN401 - JSON
    """Stop waiting for an answer; nobody is left behind."""
    asked = asyncio.create_task(those.ask(60))
    await asyncio.sleep(0.3)
    asked.cancel()
    await asyncio.wait({asked})
    return []


def told(function: Use) -> Any:  # noqa: ANN401 - JSON
    """Run a use in a process without threads, as the reader is, and return what it tells; no child stays."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.provider.test_children", function.__name__],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_a_child_answers_again_and_is_replaced_after_a_while() -> None:
    """The first ones come from one child, and the last from another."""
    *first, last = told(one_after_the_other)
    assert len(set(first)) == 1
    assert last not in first


def test_no_more_are_forked_than_are_needed() -> None:
    """As many as CPUs where they answer soon; one each where they do not, and none waits for another."""
    assert len(set(told(quick_ones_at_once))) <= (os.cpu_count() or 1) + 2
    assert len(set(told(slow_ones_at_once))) == 8


def test_one_that_dies_is_told_and_the_others_answer() -> None:
    """The wait status says how it died; a failure of the answer itself ends the child, too."""
    died, broke, other = told(one_that_dies)
    assert died == f"it ended without an answer (wait status {3 << 8})"
    assert "ended without an answer" in broke
    assert other.isdigit()


def test_one_that_died_while_nobody_asked_costs_no_answer() -> None:
    """The next question goes to a new child."""
    killed, other = told(one_that_dies_while_it_is_free)
    assert other != killed


def test_an_answer_that_is_too_long_is_none() -> None:
    """It is told as none, as a dead child's is, and the others answer."""
    long, other = told(one_that_says_too_much)
    assert "ended without an answer" in long
    assert other.isdigit()


@pytest.mark.parametrize("function", [one_that_hangs, slow_ones_at_once])
def test_none_is_left_behind(function: Use) -> None:
    """The process has waited for each of its children when it ends."""
    assert told(function) is not None


async def _used(function: Use) -> Any:  # noqa: ANN401 - JSON
    those = Children(answer)
    try:
        return await function(those)
    finally:
        those.end()


if __name__ == "__main__":
    found = asyncio.run(_used(globals()[sys.argv[1]]))
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        sys.stdout.write(json.dumps(found))
