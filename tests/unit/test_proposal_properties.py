"""What holds of every proposal: the checks pass it, nothing moves, and it is the best that there is."""

from __future__ import annotations

from copy import deepcopy

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from coldaisle.cli.place import proposal_text
from coldaisle.proposal import propose, room, wanted
from tests.unit.small_halls import SYSTEM, Hall, halls, most_by_trying, new_findings, opened, placed

FEW = settings(max_examples=40, deadline=None, derandomize=True)


@FEW
@given(halls(), st.booleans())
def test_what_is_proposed_passes_the_checks(hall: Hall, strict: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    """Lines that are proposed and pasted bring no error, and no warning either where none is accepted."""
    before = opened(hall)
    found = propose(before, wanted(before.spec), strict=strict)
    if found.complete:
        new = yaml.safe_load(proposal_text(found))["node_pools"]["p"]["nodes"]
        after = opened(hall, new)
        assert len(after.plan.nodes) == len(placed(hall)) + hall["count"]
        assert not [each for each in new_findings(before, after) if strict or each.severity == "error"]
    else:
        assert found.limits
        assert not found.nodes


@FEW
@given(halls())
def test_what_is_placed_stays(hall: Hall) -> None:
    """A proposal moves no node, and the same site gives the same proposal."""
    before = opened(hall)
    found = propose(before, wanted(before.spec))
    assert found == propose(opened(hall), wanted(before.spec))
    assert not {node.name for node in found.nodes} & set(placed(hall))
    assert {(node.rack, node.rack_unit) for node in found.nodes}.isdisjoint(
        (each["rack"], each["rack_unit"]) for each in placed(hall).values()
    )


@settings(max_examples=25, deadline=None, derandomize=True)
@given(halls(racks=2).filter(lambda hall: max(rack["height_u"] for rack in hall["racks"]) <= 5 * hall["height_u"]))
def test_no_better_place_is_missed(hall: Hall) -> None:
    """As many nodes fit as the best of all ways to put them there, tried one by one with the checks themselves."""
    (found,) = room(opened(hall), [SYSTEM])
    assert (found.more or 0) == most_by_trying(hall, 5)


GROWTH = ("height_u", "breaker_a", "max_weight_kg", "upstream_w", "air_w", "liquid_w", "rack")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(halls(), st.sampled_from(GROWTH))
def test_more_capacity_never_fits_less(hall: Hall, grows: str) -> None:
    """Whatever of a hall is raised, at least as many nodes fit as before."""
    (before,) = room(opened(hall), [SYSTEM])
    (after,) = room(opened(_grown(hall, grows)), [SYSTEM])
    assert (after.more or 0) >= (before.more or 0)


def _grown(hall: Hall, what: str) -> Hall:
    grown = deepcopy(hall)
    if what == "rack":
        grown["racks"].append({**grown["racks"][0], "placed": False})
    elif what == "upstream_w":
        grown[what] = tuple(2 * each for each in grown[what])
    elif what in grown["racks"][0]:
        for rack in grown["racks"]:
            rack[what] = rack[what] and rack[what] * 2
    else:
        grown[what] *= 2
    return grown
