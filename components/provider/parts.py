"""Parts of a job that run side by side: how each ended, and all of it as one result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from components.provider.outcome import Failed, RunResult
from components.provider.run import Event, RunError

OnEvent = Callable[[Event], None]
End = RunResult | RunError


async def end_of(run: Awaitable[RunResult]) -> End:
    """Return how a part ended; of what is wrong with it, the others shall hear nothing."""
    try:
        return await run
    except RunError as error:
        return error


def joined(hosts: tuple[str, ...], ends: Mapping[tuple[str, ...], End]) -> RunResult:
    """
    Return the ends of parts, each by its hosts, as one result. A part that could not be run fails its own hosts.

    Raises:
        RunError: that of the first part, where none could be run.

    """
    problems = [end for end in ends.values() if isinstance(end, RunError)]
    if len(problems) == len(ends):
        raise problems[0]
    whole = RunResult(hosts)
    for part, end in ends.items():
        each = end if isinstance(end, RunResult) else _failed(part, end)
        whole.trouble |= each.trouble
        whole.changed |= each.changed
        whole.facts |= each.facts
        whole.errors |= each.errors
    return whole


def _failed(hosts: tuple[str, ...], error: RunError) -> RunResult:
    return RunResult(hosts, dict.fromkeys(hosts, Failed("", line(error), "")))


def line(error: Exception) -> str:
    """Return an error's text as one line."""
    return " ".join(str(error).split())
