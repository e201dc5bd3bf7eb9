"""What a cluster shows of conditions: what is taken over from it, and when one is written anew."""

from __future__ import annotations

from dataclasses import replace

from coldaisle.health.conditions import Condition, rfc3339
from coldaisle.health.shown import HEARTBEAT_S, Board, board_of, outdated, taken_over
from tests.unit.health.sites import T0

NODE = "r01-n06"
BAD = Condition(NODE, "GpuMemWatch", "True", "GpuMemWatchIsNotHealthy", "gpu 0000:43:00.0: ecc corrected (2)", T0)


def board(*conditions: Condition, heartbeat: float = T0) -> Board:
    """Return what a cluster shows that was told these conditions."""
    return board_of({NODE: [it.as_kubernetes(heartbeat) for it in conditions]})


def test_what_only_the_cluster_knows_is_taken_over_of_nodes_that_were_read() -> None:
    """A condition that is kept is not; of a node that was not read none is; of types that are not ours neither."""
    assert taken_over((), board(BAD), {NODE}) == (BAD,)
    assert taken_over((), board(BAD), set()) == ()
    kept = replace(BAD, status="False")
    assert taken_over((kept,), board(BAD), {NODE}) == (kept,)
    assert board_of({NODE: [{"type": "Ready", "status": "True"}]}) == {}


def test_a_condition_is_written_when_it_differs_or_its_heartbeat_gets_old() -> None:
    """A message, a status or a time that changed; a heartbeat of five minutes, or one of a clock that went back."""
    assert outdated([BAD], board(BAD), T0 + HEARTBEAT_S - 1) == []
    assert outdated([BAD], board(BAD), T0 + HEARTBEAT_S) == [BAD]
    assert outdated([BAD], board(BAD), T0 - 3600) == [BAD]
    assert outdated([BAD], {}, T0) == [BAD]
    for changed in (
        replace(BAD, message="more"),
        replace(BAD, status="False"),
        replace(BAD, last_transition=T0 + 1),
    ):
        assert outdated([changed], board(BAD), T0) == [changed]
    assert rfc3339(T0) == board(BAD)[NODE, "GpuMemWatch"].condition.as_kubernetes(T0)["lastTransitionTime"]
