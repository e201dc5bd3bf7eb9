"""Drift and the life of nodes: maintenance is an answer of its own, and who is retired has to be off."""

from __future__ import annotations

from coldaisle.cli.drift import exit_code
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.drift.answers import CouldNotTell, Drifted
from coldaisle.drift.formats import as_json, as_junit, as_markdown, as_text
from coldaisle.drift.life import apply, with_retired
from coldaisle.drift.report import Item, Report
from coldaisle.spec.journal import Journal, State, Step


def item(host: str, answer: Drifted | CouldNotTell, *, pending: bool = False) -> Item:
    """Return what was found of a host."""
    return Item(
        layer="hosts", resource="os-x", host=host, thing="mtu", answer=answer, operation="update", pending=pending
    )


def journal(**states: State) -> Journal:
    """Return a journal of nodes with one step each."""
    steps = (
        Step(node=node, step=1, was=None, state=state, who="alice", when="2026-11-28T12:00:00Z", why="DIMM", plan="")
        for node, state in states.items()
    )
    return Journal(tuple(steps))


def report(*items: Item) -> Report:
    """Return a report."""
    return Report(stack="dev", taken_at="2026-11-28T13:00:00Z", items=items, same={})


def test_d11_drift_of_a_node_in_maintenance_or_repair_does_not_count() -> None:
    """Drifted, pending and silent alike are in the report with who works on it and why, and change no exit code."""
    found = report(
        item("n1", Drifted(9000, 1500)),
        item("n1", CouldNotTell("unreachable")),
        item("n2", Drifted(1, 2), pending=True),
    )
    assert exit_code(found) == ExitCode.CHANGED
    marked = apply(found, journal(n1="maintenance", n2="repair"))
    assert exit_code(marked) == ExitCode.CLEAN
    assert marked.counts()["in-maintenance"] == 3
    said = "n1 is in maintenance since 2026-11-28T12:00:00Z: alice (DIMM)"
    for text in (as_text(marked), str(as_json(marked)), as_markdown(marked), as_junit(marked)):
        assert said in text


def test_drift_of_the_other_hosts_still_counts() -> None:
    """One node in maintenance hides nothing of its neighbours, and one that is back hides nothing of itself."""
    found = apply(
        report(item("n1", Drifted(1, 2)), item("n2", Drifted(1, 2))), journal(n1="maintenance", n2="in-service")
    )
    assert [(each.host, each.kind) for each in found.items] == [("n1", "in-maintenance"), ("n2", "drifted")]
    assert exit_code(found) == ExitCode.CHANGED


def test_a_retired_node_that_is_on_is_named() -> None:
    """One that is off is as planned; one whose BMC is gone is a note, since it may have left the hall."""
    found = with_retired(report(), {"n1": "on", "n2": "off"}, {"n3": "no-answer"})
    [on] = found.items
    assert (on.name, on.answer) == ("retired n1 power", Drifted("off", "on"))
    assert exit_code(found) == ExitCode.CHANGED
    assert found.counts()["same"] == 1
    assert found.notes == ("n3 is retired, and its BMC does not tell whether it is off: no-answer",)
    assert exit_code(with_retired(report(), {"n2": "off"}, {"n3": "no-answer"})) == ExitCode.CLEAN
