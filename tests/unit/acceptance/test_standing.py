"""Where a node stands by its evidence, what makes that stale, and what is worse than before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from coldaisle.acceptance import DOMAINS, Step
from coldaisle.acceptance.compare import Before, Compared
from coldaisle.acceptance.records import Limit, Measured, Where
from coldaisle.acceptance.standing import Wanted, about, standing
from coldaisle.acceptance.times import expected_s, longest_s, measured

ASPECTS = {"accepted_for.driver": "driver=580", "accepted_for.hardware": "ab12"}
WANTED = Wanted(phase="quick", domains=DOMAINS, aspects=ASPECTS)


def body(result: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the body of a result of a node as it is wanted, with some parts changed."""
    return {"result": result, "phase": "quick", "reasons": [], **about(WANTED), **more}


def test_a_result_is_current_as_long_as_what_it_is_about_is() -> None:
    """Another driver, other hardware, a longer phase or a domain that was left out make a node due, and it is said."""
    good = body("accepted")
    assert standing([good], WANTED, "accepted").kind == "current"
    assert standing([good], WANTED, "accepted").facts == {"accepted": "quick", **ASPECTS}
    newer = replace(WANTED, aspects={**ASPECTS, "accepted_for.driver": "driver=590"})
    found = standing([good], newer, "accepted")
    assert (found.kind, found.why) == ("due", "driver has changed, from driver=580 to driver=590")
    assert found.facts == {"accepted": "quick", **ASPECTS}
    longer = standing([good], replace(WANTED, phase="full"), "accepted")
    assert longer.why == "it was accepted by the phase quick only"
    assert standing([body("accepted", phase="full")], WANTED, "accepted").kind == "current"
    fewer = body("accepted", asked_domains=["gpu"])
    assert standing([fewer], WANTED, "accepted").why.startswith("it was not tested for host, pcie")
    some = body("accepted", only_tests=["host-copies"])
    assert standing([some], WANTED, "accepted").why == "only host-copies ran"
    assert standing([], WANTED, "accepted").why == "it was never accepted"


def test_a_shorter_result_after_a_longer_one_does_not_hide_it() -> None:
    """And a refusal hides all before it."""
    full, quick, refused = body("accepted", phase="full"), body("accepted"), body("refused")
    wanted = replace(WANTED, phase="full")
    assert standing([full, quick], wanted, "accepted").kind == "current"
    assert standing([full, refused, quick], wanted, "accepted").kind == "due"
    assert standing([full, refused], WANTED, "accepted").facts == {"accepted": "refused"}


def test_three_failures_of_the_same_node_give_it_up_and_a_new_part_does_not() -> None:
    """What a wave has found is no fault of the node, and is not counted."""
    part = {"text": "r01-n01 GPU 3, serial 42"}
    reason = {"test": "gpu-state", "what": "7 of 8 GPUs", "part": part}
    bad = [body("refused", reasons=[reason])] * 3
    found = standing(bad, WANTED, "accepted")
    assert (found.kind, found.failures) == ("given-up", 3)
    assert found.why == "gpu-state: 7 of 8 GPUs (part: r01-n01 GPU 3, serial 42)"
    mended = replace(WANTED, aspects={**ASPECTS, "accepted_for.hardware": "cd34"})
    assert (standing(bad, mended, "accepted").kind, standing(bad, mended, "accepted").failures) == ("due", 0)
    by_wave = [*bad[:2], body("refused", wave="gpu-light")]
    assert standing(by_wave, WANTED, "accepted").kind == "due"
    assert standing([*bad, body("accepted"), bad[0]], WANTED, "accepted").failures == 1


STEP = Step(
    id="r01-n01/host-copies",
    test="host-copies",
    domain="pcie",
    hosts=("r01-n01",),
    argv=("x",),
    parser="nvbandwidth",
    timeout_s=600,
    takes_s=60,
    limits=(Limit(metric="gb_s", kind="floor"), Limit(metric="c", kind="ceiling")),
)


def test_a_figure_is_worse_by_more_than_may_be_lost() -> None:
    """A floor's figure falls, a ceiling's rises; another GPU's, and one that nothing judges, are not held to it."""
    known = Before("2026-11-28", {(STEP.id, "gb_s", "2"): 55.0, (STEP.id, "c", None): 60.0, (STEP.id, "n", None): 9.0})
    worse = Compared({"r01-n01": known}, 5)
    slow = Measured("gb_s", 44.0, Where("gpu", "2"))
    assert worse(STEP, slow) == "gb_s is 44, was 55 on 2026-11-28: -20 %, 5 % may be lost"
    assert worse(STEP, replace(slow, value=52.3)) == ""
    assert worse(STEP, replace(slow, where=Where("gpu", "3"))) == ""
    assert worse(STEP, Measured("c", 66.0)) == "c is 66, was 60 on 2026-11-28: +10 %, 5 % may be lost"
    assert worse(STEP, Measured("c", 50.0)) == ""
    assert worse(STEP, Measured("n", 1.0)) == ""
    assert Compared({}, 5)(STEP, slow) == ""


def test_times_are_those_that_were_measured_else_those_that_are_meant() -> None:
    """Hosts take turns where there are more than forks; a run is stuck when every step has used its time."""
    other = replace(STEP, id="r01-n02/host-copies", hosts=("r01-n02",))
    pair = replace(STEP, id="r01-n01/r01-n02/rail0/rdma-write", test="rdma-write", round=1, takes_s=10, timeout_s=60)
    steps = (STEP, other, pair)
    assert expected_s(steps, 2, {}) == 70
    assert expected_s(steps, 1, {"host-copies": 20}) == 50
    assert longest_s(steps, 2) == 660 + 600
    ran = {"steps": [{"id": "r01-n01/host-copies", "seconds": 20.0}, {"id": "r01-n01/hpl", "seconds": 0.0}]}
    assert measured([ran, ran]) == {"host-copies": 20.0}
