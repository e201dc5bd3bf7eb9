"""A node's way back, rung by rung: every one ends, in service or at a ticket that names the part."""

from __future__ import annotations

import json
from dataclasses import replace

from coldaisle.health.state import as_json, from_json
from coldaisle.health.tick import Reading, tick
from coldaisle.health.tickets import ticket_of
from coldaisle.spec.health import HealthLimits, HealthRule, HealthSpec
from tests.unit.health.sites import GPU, T0, Hall, event

NODE = "r01-n06"


def test_a_lost_gpu_ends_at_a_ticket_that_names_it() -> None:
    """Xid 79: drained, reset refused, power-cycled and still lost, then a ticket with slot, serial and unit."""
    hall = Hall(outcome=lambda step: step.rung != "reset")
    parts = {NODE: {GPU: {"serial": "1650123", "minor_number": "3"}}}
    hall.state = replace(hall.state, parts=parts)
    hall.tick([event(NODE, "xid", "79")])
    for _ in range(4):
        hall.tick([event(NODE, "gpu-lost", "missing", hall.now + 60, state=True)])
    assert hall.done == [(NODE, "drain"), (NODE, "reset"), (NODE, "reboot"), (NODE, "ticket")]
    ladder = hall.state.ladder(NODE)
    assert ladder is not None
    ticket = ticket_of(ladder, hall.state, hall.site, hall.now)
    assert ticket.replace == ("the GPU in PCI slot 0000:58:00.0, GPU 3, serial 1650123 (r01-n06, rack r01, unit 11)")
    assert ticket.cause == "Xid 79: the GPU has fallen off the bus (NVIDIA: RESTART_BM)"
    assert [line.split(" ")[1:3] for line in ticket.tried[:2]] == [["drain", "done"], ["reset", "failed"]]


def test_a_reset_that_helps_gives_the_node_back() -> None:
    """An uncorrectable error is gone after the reset: the next reading is the check, and nothing else is done."""
    hall = Hall()
    hall.tick([event(NODE, "ecc", "uncorrected", state=True)])
    for _ in range(5):
        hall.tick()
    assert hall.done == [(NODE, "drain"), (NODE, "reset"), (NODE, "return")]
    assert {it.type: it.status for it in hall.state.conditions if it.node == NODE} == {"GpuMemWatch": "False"}


def test_a_relapse_begins_one_rung_behind_and_so_it_ends() -> None:
    """An error that a reset clears for an hour only comes to a reboot, then to a ticket, and is then left alone."""
    hall = Hall()
    for _ in range(6):
        hall.tick([event(NODE, "xid", "119", hall.now + 3600)], after_s=3600)
        for _ in range(4):
            hall.tick()
    rungs = [rung for _node, rung in hall.done]
    assert rungs == ["drain", "reset", "return", "drain", "reboot", "return", "drain", "ticket"]


def test_a_node_that_cannot_be_drained_is_not_reset_under_its_jobs() -> None:
    """A disruption budget that holds is a ticket: a person talks to the owners of the jobs."""
    hall = Hall(outcome=lambda step: step.rung != "drain")
    for _ in range(3):
        hall.tick([event(NODE, "xid", "79", hall.now)])
    assert hall.done == [(NODE, "drain"), (NODE, "ticket")]


def test_a_node_that_is_not_read_again_goes_on() -> None:
    """Silence after a power cycle is no success: after twice the time of a check the next rung is gone."""
    hall = Hall(spec=HealthSpec(limits=HealthLimits(check_timeout_s=600)))
    hall.tick([event(NODE, "xid", "154:node-reboot-required")])
    hall.tick()
    assert hall.done == [(NODE, "drain"), (NODE, "reboot")]
    _state, early = tick(hall.state, (), hall.now + 1200, hall.policy, hall.site)
    _state, late = tick(hall.state, (), hall.now + 1201, hall.policy, hall.site)
    assert early.steps == ()
    assert [(step.node, step.rung) for step in late.steps] == [(NODE, "ticket")]


def test_a_drained_node_with_flaps_is_given_back_when_it_stays_quiet() -> None:
    """A port that went down five times drains its node; half an hour without another one gives it back."""
    hall = Hall()
    flaps = [event(NODE, "link", "link-down", T0 + second, "port rail0") for second in range(5)]
    assert hall.tick(flaps[:4]).steps == ()
    hall.tick(flaps[4:])
    hall.tick(after_s=900)
    assert hall.done == [(NODE, "drain")]
    hall.tick(after_s=901)
    assert hall.done == [(NODE, "drain"), (NODE, "return")]


def test_what_takes_an_error_back_stops_what_was_to_be_done() -> None:
    """Xid 163 asks for a reset, and a later 162 of the same GPU takes it back; one of another GPU does not."""
    hall = Hall(spec=HealthSpec(limits=HealthLimits(max_pool_share=0.1)))
    undone = [event(NODE, "xid", "163", T0), event(NODE, "xid", "162", T0 + 5)]
    assert hall.tick(undone).steps == ()
    other = [event("r01-n02", "xid", "163", T0), event("r01-n02", "xid", "162", T0 + 5, "gpu 0000:40:00.0")]
    assert [step.node for step in hall.tick(other).steps] == ["r01-n02"]


def test_a_rule_of_the_site_goes_before_the_defaults() -> None:
    """A site that wants to see Xid 79 only watches it: a condition, and no drain."""
    hall = Hall(spec=HealthSpec(rules=[HealthRule(kind="xid", code="79", action="watch")]))
    decision = hall.tick([event(NODE, "xid", "79")])
    assert decision.steps == ()
    assert [(it.type, it.status, it.reason) for it in decision.conditions] == [
        ("SysLogsXIDError", "True", "SysLogsXIDErrorIsNotHealthy")
    ]


def test_a_rule_of_the_site_goes_before_a_default_of_the_same() -> None:
    """Also where a default names the same kind and code."""
    hall = Hall(spec=HealthSpec(rules=[HealthRule(kind="ecc", code="uncorrected", action="watch")]))
    assert hall.tick([event(NODE, "ecc", "uncorrected", state=True)]).steps == ()


def test_half_a_reading_passes_no_check() -> None:
    """A host whose driver does not answer has told nothing bad after its reset, and is not given back for that."""
    hall = Hall()
    hall.tick([event(NODE, "xid", "119")])
    hall.tick()
    half = Reading(NODE, hall.now + 60, complete=False)
    _state, decision = tick(hall.state, [half], hall.now + 60, hall.policy, hall.site)
    assert decision.steps == ()
    _state, decision = tick(hall.state, [replace(half, complete=True)], hall.now + 60, hall.policy, hall.site)
    assert [step.rung for step in decision.steps] == ["return"]


def test_what_a_node_told_before_it_recovered_is_over() -> None:
    """An Xid of an hour ago is no condition of a node that was reset and passed its check."""
    hall = Hall()
    hall.tick([event(NODE, "xid", "119")])
    for _ in range(4):
        hall.tick()
    assert hall.done[-1] == (NODE, "return")
    assert [(it.type, it.status) for it in hall.state.conditions] == [("SysLogsXIDError", "False")]


def test_a_condition_keeps_the_time_of_its_change() -> None:
    """The time moves when the status changes, not with every tick: false again when its window is over."""
    hall = Hall()
    first = hall.tick([event(NODE, "xid", "13", T0 + 60)]).conditions[0].last_transition
    assert hall.tick().conditions[0].last_transition == first
    over = hall.tick(after_s=3600).conditions[0]
    assert (over.status, over.last_transition) == ("False", hall.now)


def test_the_state_is_the_same_after_it_was_written_down() -> None:
    """Written as JSON and read back in the middle of a ladder, nothing of it is lost."""
    hall = Hall(outcome=lambda step: step.rung != "reset")
    for _ in range(3):
        hall.tick([event(NODE, "xid", "79", hall.now)])
    assert hall.state.ladders
    assert from_json(json.loads(json.dumps(as_json(hall.state)))) == hall.state
