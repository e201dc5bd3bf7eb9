"""Ranges in names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldaisle.spec.ranges import RangeError, expand, expand_with, fold


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("r01", ("r01",)),
        ("r[1-3]", ("r1", "r2", "r3")),
        ("r[08-11]", ("r08", "r09", "r10", "r11")),
        ("r[8-11]", ("r8", "r9", "r10", "r11")),
        ("r[1-2]-n[1-2]", ("r1-n1", "r1-n2", "r2-n1", "r2-n2")),
        ("r[5-5]", ("r5",)),
    ],
)
def test_expand(pattern: str, names: tuple[str, ...]) -> None:
    """A pattern stands for the product of its ranges, and zeros in front are kept."""
    assert expand(pattern) == names


@pytest.mark.parametrize(
    ("key", "follower", "pairs"),
    [
        ("r[1-2]-n1", "r[1-2]", (("r1-n1", "r1"), ("r2-n1", "r2"))),
        ("r[1-2]-n[1-2]", "r[1-2]", (("r1-n1", "r1"), ("r1-n2", "r1"), ("r2-n1", "r2"), ("r2-n2", "r2"))),
        ("n[1-2]-r[3-4]", "r[3-4]", (("n1-r3", "r3"), ("n1-r4", "r4"), ("n2-r3", "r3"), ("n2-r4", "r4"))),
        ("n[1-2]", "r[7-8]", (("n1", "r7"), ("n2", "r8"))),
        ("n[1-2]", "r7", (("n1", "r7"), ("n2", "r7"))),
        ("a[1-2]b[1-2]", "h[1-2]r[1-2]", (("a1b1", "h1r1"), ("a1b2", "h1r2"), ("a2b1", "h2r1"), ("a2b2", "h2r2"))),
    ],
)
def test_expand_with(key: str, follower: str, pairs: tuple[tuple[str, str], ...]) -> None:
    """A follower's range walks along with the key's range of the same values, else of the same length."""
    assert expand_with(key, follower) == pairs


def test_a_range_that_counts_down_is_refused() -> None:
    """A range that counts down is a mistake and not an empty range."""
    with pytest.raises(RangeError, match="counts down"):
        expand("r[3-1]")


def test_ranges_of_other_lengths_are_refused() -> None:
    """A follower's range needs a range of the key to walk along with."""
    with pytest.raises(RangeError, match="has a range of 3"):
        expand_with("n[1-2]", "r[1-3]")


@given(st.integers(0, 300), st.integers(0, 300), st.integers(1, 4))
def test_names_are_as_many_as_numbers(first: int, count: int, width: int) -> None:
    """A range of n numbers gives n names, all different."""
    names = expand(f"r[{first:0{width}}-{first + count:0{width}}]")
    assert len(set(names)) == count + 1


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (["r03", "r01", "r02", "n5"], "n5, r[01-03]"),
        (["r8", "r9", "r10", "r12"], "r[8-10], r12"),
        (["r9", "r10", "r010"], "r9, r010, r10"),
        (["busway-a", "ups-1-b", "ups-2-b"], "busway-a, ups-[1-2]-b"),
        ([], ""),
    ],
)
def test_fold(names: list[str], folded: str) -> None:
    """Names that count up are one range, and zeros in front are kept."""
    assert fold(names) == folded


@given(st.lists(st.from_regex(r"[rn](0{0,2}[0-9]|[0-9]{1,3})(-b)?", fullmatch=True), max_size=30))
def test_folded_names_are_the_same_names(names: list[str]) -> None:
    """What is folded stands for the same names, each once."""
    parts = fold(names).split(", ") if names else []
    assert sorted(name for part in parts for name in expand(part)) == sorted(set(names))
