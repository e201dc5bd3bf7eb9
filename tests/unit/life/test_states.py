"""The table of a node's steps: what no walk through it may do."""

from __future__ import annotations

import re
from collections import deque
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from coldaisle.life.states import MEANING, NEXT, STATES, refusal
from coldaisle.spec.journal import State


@st.composite
def walks(draw: st.DrawFn) -> list[State]:
    """Return a walk of allowed steps from a node that no journal knows."""
    state: State | None = None
    walk: list[State] = []
    for _ in range(draw(st.integers(1, 25))):
        step: State = draw(st.sampled_from(sorted(NEXT[state])))
        walk.append(step)
        state = step
    return walk


@given(walks())
def test_whoever_was_broken_or_new_is_accepted_before_it_takes_work(walk: list[State]) -> None:
    """Between a repair, an enrolment or a retirement and the next day in service there is an acceptance."""
    owed = False
    for was, state in pairwise([None, *walk]):
        assert not (owed and state == "in-service" and was != "accept")
        owed = state != "in-service" and (owed or state not in {"maintenance", "in-service"})


@given(walks())
def test_a_retired_node_comes_back_by_enrolment_only(walk: list[State]) -> None:
    """Nothing but a person's enrolment follows a retirement."""
    assert {after for state, after in pairwise(walk) if state == "retired"} <= {"enroll"}


@given(walks())
def test_a_node_in_service_is_taken_out_before_it_is_retired(walk: list[State]) -> None:
    """Work is never on a node at the moment at which it is retired."""
    assert all(walk[at - 1] != "in-service" for at, state in enumerate(walk) if state == "retired" and at)


@given(st.sampled_from([None, *STATES]), st.sampled_from(STATES))
def test_a_step_is_refused_with_those_that_there_are(was: State | None, to: State) -> None:
    """A refusal names every step that is open, and only these."""
    refused = refusal(was, to)
    assert (refused is None) == (to in NEXT[was])
    if refused:
        assert set(refused.fix.removeprefix("from there it goes to ").split(", ")) == NEXT[was]


def test_every_state_has_a_meaning_and_a_way_in_and_out() -> None:
    """From a node that nobody knows every state is reached, and from each the way to service and to the end."""
    assert set(MEANING) == set(STATES) == set(NEXT) - {None}
    assert reached(None) == set(STATES)
    assert all({"in-service", "retired"} <= reached(state) for state in STATES)


def reached(start: State | None) -> set[State]:
    """Return the states that steps from `start` lead to."""
    found: set[State] = set()
    open_ends: deque[State | None] = deque([start])
    while open_ends:
        new = NEXT[open_ends.popleft()] - found
        found |= new
        open_ends += new
    return found


def test_the_picture_in_the_docs_is_the_table() -> None:
    """The state picture of docs/life.md has the steps that there are, and no other."""
    text = (Path(__file__).parents[3] / "docs/life.md").read_text(encoding="utf-8")
    drawn = set(re.findall(r"^    (\S+) --> (\S+)$", text, flags=re.MULTILINE))
    assert drawn == {(was or "[*]", state) for was, states in NEXT.items() for state in states}
