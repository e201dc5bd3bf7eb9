"""Each thing that a role manages, broken by hand: read names exactly it, check mode agrees, and the role repairs it."""

from __future__ import annotations

import pytest

from coldaisle.drift import CouldNotTell, Drifted
from coldaisle.drift.kinds import KINDS
from tests.hosts.breaks import BREAKS, Break
from tests.hosts.settled import Settled, needs_root

pytestmark = needs_root

NEED_MODULES = {"addresses", "bond_hash", "bond_lacp_rate", "bond_members", "bond_mode", "vlan"}
"""Bonds and VLANs take modules that this machine's kernel may lack; guests with a kernel of their own have them."""

OF_OTHERS = {"foreign_dhcp"}
"""What another machine does: it is broken where there is one, in tests/sim/test_dhcp_faults.py."""


def test_d7_check_mode_of_a_bare_host_says_what_would_be_made(settled: Settled) -> None:
    """D7: where nothing is there yet, check mode does not fail, and would change just what is not as planned."""
    for role, (would, result, answers) in settled.bare.items():
        assert not result.get("failed"), result["msg"]
        assert would == set(answers)
        assert f"files.{role}" in would


def test_a_settled_host_has_no_drift(settled: Settled) -> None:
    """After its roles have run, every fact is the same, and a second run changes nothing."""
    for role, facts in settled.facts.items():
        assert settled.read(facts) == {}
        changed, result = settled.run_role(role, facts)
        assert changed == set()
        assert not result["changed"]


@pytest.mark.parametrize("row", BREAKS, ids=[row.fact for row in BREAKS])
def test_what_is_broken_is_named_and_repaired(settled: Settled, row: Break) -> None:
    """Read names what is broken and nothing else, check mode would change just that, and the repair leaves none."""
    facts = settled.planned(row)
    settled.host.shell(row.by)
    settled.host.at_switch(row.at_switch)

    answers = settled.read(facts)
    drifted = {name: answer.seen for name, answer in answers.items() if isinstance(answer, Drifted)}
    assert drifted == {row.fact: row.seen, **row.also}
    assert set(answers) - set(drifted) == set(row.untold)

    names = {name: facts[name] for name in answers}
    would, _result = settled.run_role(row.role, names, check=True)
    assert would == set(answers)

    changed, result = settled.run_role(row.role, names)
    refused = result["msg"] if result.get("failed") else ""
    if row.mend is None:
        assert not refused
        assert row.fact in changed
    else:
        assert f"{row.fact} is {row.seen}" in refused
        settled.host.shell(row.mend)
        settled.host.at_switch(row.mend_at_switch)
    assert settled.read(settled.facts[row.role]) == {}


def test_every_kind_that_a_host_tells_has_a_row() -> None:
    """A new kind of fact comes with the way to break it; what only health reads is planned by nobody."""
    told = {kind for kind, record in KINDS.items() if record.teller == "host" and record.role != "health"}
    assert {row.kind for row in BREAKS} | NEED_MODULES | OF_OTHERS == told


def test_what_cannot_be_read_is_not_drift(settled: Settled) -> None:
    """A tool that is missing is an answer of its own, with its reason, and what it does not tell is told as before."""
    settled.host.shell("mv /usr/local/bin/nvidia-smi /run/nvidia-smi")
    answers = settled.read(settled.facts["gpu"])
    settled.host.shell("mv /run/nvidia-smi /usr/local/bin/nvidia-smi")
    assert set(answers) == {
        "gpu_count",
        "driver",
        "driver_pin",
        "fabric_manager",
        "fabric_state",
        "persistence",
        "ecc_uncorrected",
    }
    assert set(answers.values()) == {CouldNotTell("nvidia-smi is not installed")}
