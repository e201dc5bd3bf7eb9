"""The line that says what could not be told."""

from __future__ import annotations

import pytest

from coldaisle.drift.reasons import Untold, read, write


@pytest.mark.parametrize("since", [None, "2026-11-28T01:25:10Z"])
def test_a_line_reads_back_as_it_was_written(since: str | None) -> None:
    """Host, facts, reason and time survive the engine, which carries text only; so does a reason with colons."""
    untold = Untold("r01-n03", ("mtu.rail0", "label.topology/rack"), "unreachable: ssh: port 22: no route", since)
    assert read(write(untold)) == untold


def test_other_lines_are_left_alone() -> None:
    """The reason of a failed run is not taken for silence."""
    assert read("r01-n03: failed in task 'Rdma | Set': refused") is None
