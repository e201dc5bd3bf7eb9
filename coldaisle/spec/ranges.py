"""
Names in ranges: `r[01-32]-n[1-4]` stands for 128 names.

Zeros in front are kept, so that names sort as their numbers do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product
from math import prod

_RANGE = re.compile(r"\[(\d+)-(\d+)\]")
_MOST_NAMES = 100_000
"""More names than any site has of one kind: a pattern that stands for more is a slip of the pen."""
_MOST_DIGITS = 9


class RangeError(ValueError):
    """A range that counts down or has no end, or two patterns that do not fit each other."""


def _values(first: str, last: str) -> tuple[str, ...]:
    if max(len(first), len(last)) > _MOST_DIGITS or int(last) - int(first) >= _MOST_NAMES:
        raise RangeError(f"the range [{first[:_MOST_DIGITS]}-{last[:_MOST_DIGITS]}] stands for too many names")
    if int(last) < int(first):
        raise RangeError(f"the range [{first}-{last}] counts down")
    width = len(first) if first.startswith("0") or len(first) == len(last) else 0
    return tuple(str(number).zfill(width) for number in range(int(first), int(last) + 1))


def ranges_of(pattern: str) -> tuple[tuple[str, ...], ...]:
    """
    Return the values of each range in a pattern, from left to right.

    Raises:
        RangeError: a range counts down, or the pattern stands for more than 100,000 names.
    """
    found = tuple(_values(*match) for match in _RANGE.findall(pattern))
    if prod(len(values) for values in found) > _MOST_NAMES:
        raise RangeError(f"it stands for more than {_MOST_NAMES} names")
    return found


def _fill(pattern: str, values: tuple[str, ...]) -> str:
    left = iter(values)
    return _RANGE.sub(lambda _: next(left), pattern)


def expand(pattern: str) -> tuple[str, ...]:
    """
    Return all names that a pattern stands for, in order.

    Example: `r[1-2]-n[1-2]` gives r1-n1, r1-n2, r2-n1, r2-n2.

    Raises:
        RangeError: a range counts down.
    """
    return tuple(_fill(pattern, values) for values in product(*ranges_of(pattern)))


def _partner(values: tuple[str, ...], key_ranges: tuple[tuple[str, ...], ...], taken: set[int]) -> int | None:
    """Return which range of the key a follower's range walks along with: an equal one, else one of the same length."""
    free = [index for index in range(len(key_ranges)) if index not in taken]
    for index in free:
        if key_ranges[index] == values:
            return index
    return next((index for index in free if len(key_ranges[index]) == len(values)), None)


def expand_with(key: str, follower: str) -> tuple[tuple[str, str], ...]:
    """
    Return pairs of a key's names and the follower's name for each.

    A range of the follower walks along with the key's range of the same values (else of the same length); ranges of
    the key that the follower lacks repeat it. `r[1-2]-n[1-2]` with `r[1-2]` gives r1-n1 and r1-n2 in r1, and so on.

    Raises:
        RangeError: a range of the follower fits none of the key.
    """
    key_ranges = ranges_of(key)
    taken: list[int] = []
    for values in ranges_of(follower):
        index = _partner(values, key_ranges, set(taken))
        if index is None:
            raise RangeError(f"{follower} has a range of {len(values)}, and {key} has none of that length left")
        taken.append(index)
    follower_ranges = ranges_of(follower)
    pairs = []
    for positions in product(*(range(len(values)) for values in key_ranges)):
        name = _fill(key, tuple(values[at] for values, at in zip(key_ranges, positions, strict=True)))
        chosen = tuple(values[positions[index]] for values, index in zip(follower_ranges, taken, strict=True))
        pairs.append((name, _fill(follower, chosen)))
    return tuple(pairs)


_NUMBERED = re.compile(r"(.*?)(\d+)(\D*)")


def fold(names: Iterable[str]) -> str:
    """
    Return names as people write them, those that count up as a range: `n05, r[01-31]`.

    The names are taken once each, in counting order; only the last number of a name becomes a range.
    """
    runs: list[tuple[str, str, str, str]] = []
    for before, number, after in sorted({_numbered(name) for name in names}, key=_counting):
        if runs and (before, after) == (runs[-1][0], runs[-1][3]) and _follows(*runs[-1][1:3], number):
            runs[-1] = before, runs[-1][1], number, after
        else:
            runs.append((before, number, number, after))
    return ", ".join(f"{b}{first if first == last else f'[{first}-{last}]'}{a}" for b, first, last, a in runs)


def _numbered(name: str) -> tuple[str, str, str]:
    """Return what stands before the last number of a name, the number, and what follows; a name may have none."""
    found = _NUMBERED.fullmatch(name)
    return (found[1], found[2], found[3]) if found else (name, "", "")


def _counting(name: tuple[str, str, str]) -> tuple[str, str, int, str]:
    before, number, after = name
    return before, after, int(number or 0), number


def _follows(first: str, last: str, number: str) -> bool:
    """Tell whether a range that reaches to `last` can be written with one more number."""
    if not last or not number or int(number) != int(last) + 1:
        return False
    return len(number) == len(first) or "0" not in {first[0], number[0]}
