"""
Which end of slow pairs is to blame. Pure.

One slow pair tells that one of two ends is bad. An end whose every pair is slow, while its partners do well with
others, is the bad one; its partners are cleared. Where nothing tells the two apart, both are named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from coldaisle.acceptance.parts import cable
from coldaisle.acceptance.records import Part, Reason, Result

End = tuple[str, str]
"""A host, and its port on the rail."""


def blame(results: Sequence[Result]) -> tuple[Result, ...]:
    """Return results in which each slow pair names the cable and adapter of the end that is to blame."""
    pairs = {result.step.id: result for result in results if result.step.serve}
    bad = culprits(_outcomes(pairs.values()))
    return tuple(_blamed(result, bad) if result.step.id in pairs else result for result in results)


def _outcomes(results: Iterable[Result]) -> dict[frozenset[End], bool]:
    """Return, by both ends, whether a pair did well; one that could not be told did not."""
    return {ends_of(result): result.status in {"passed", "measured"} for result in results}


def ends_of(result: Result) -> frozenset[End]:
    """Return the two ends of a pair."""
    return frozenset((host, result.step.rail or "") for host in result.step.hosts)


def culprits(outcomes: Mapping[frozenset[End], bool]) -> dict[frozenset[End], tuple[End, ...]]:
    """
    Return, for each bad pair, the ends to blame: those with no good pair; both where both or neither have one.

    >>> a, b, c = ("n1", "rail0"), ("n2", "rail0"), ("n3", "rail0")
    >>> culprits({frozenset((a, b)): False, frozenset((a, c)): False, frozenset((b, c)): True})[frozenset((a, b))]
    (('n1', 'rail0'),)
    """
    good: dict[End, int] = defaultdict(int)
    for ends, well in outcomes.items():
        for end in ends:
            good[end] += well
    found = {}
    for ends in (ends for ends, well in outcomes.items() if not well):
        without = tuple(sorted(end for end in ends if good[end] == 0))
        found[ends] = without if len(without) == 1 else tuple(sorted(ends))
    return found


def _blamed(result: Result, bad: Mapping[frozenset[End], tuple[End, ...]]) -> Result:
    to_blame = bad.get(ends_of(result))
    if to_blame is None:
        return result
    what = "; ".join(reason.what for reason in result.reasons)
    other = " to ".join(result.step.hosts)
    reasons = tuple(Reason(what=f"{other}: {what}", part=_part(result, end)) for end in to_blame)
    # A pair that moved nothing has no figure, and is no less a failure of its cable; a tool that is missing is not.
    status = "failed" if result.measured or "connect" in what.lower() else result.status
    return replace(result, status=status, reasons=reasons)


def _part(result: Result, end: End) -> Part:
    host, port = end
    return cable(host, port, result.step.expects.get("cables", {}).get(host, ()))
