"""The journal: two writers, half-written lines, clocks that jump, full disks, and merges by git."""

from __future__ import annotations

import errno
import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coldaisle.life.journal import HeldError, LifeError, Wanted, record
from coldaisle.spec.journal import Journal, State, parse_journal, read_journal
from coldaisle.spec.problem import SpecError
from coldaisle.words import JOURNAL_FILE

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


def wanted(
    to: State, after: int, who: str = "alice@deploy", node: str = "r01-n01", *, take_over: bool = False
) -> Wanted:
    """Return a step."""
    return Wanted(node=node, to=to, after=after, who=who, why=f"{who} said so", plan="0" * 64, take_over=take_over)


def journal(folder: Path) -> Journal:
    """Return a journal that nothing is wrong with."""
    found, problems = read_journal(folder)
    assert problems == ()
    return found


def test_a_step_is_kept_with_who_when_why_and_plan(tmp_path: Path) -> None:
    """What is written is what is read; without the file there is no step."""
    assert journal(tmp_path) == Journal()
    step = record(tmp_path, wanted("enroll", 0), NOON)
    assert journal(tmp_path).steps == (step,)
    assert (step.who, step.when, step.plan) == ("alice@deploy", "2026-11-28T12:00:00Z", "0" * 64)


def test_of_two_who_begin_from_the_same_state_one_is_refused(tmp_path: Path) -> None:
    """The second is told who was quicker and why, and its step is not written."""
    record(tmp_path, wanted("maintenance", 0), NOON)
    with pytest.raises(HeldError, match=r"in maintenance since 2026-11-28T12:00:00Z: alice@deploy \(alice@deploy said"):
        record(tmp_path, wanted("repair", 0, "bob@deploy"), NOON)
    assert journal(tmp_path).states == {"r01-n01": "maintenance"}


def test_a_node_in_somebodys_hands_stays_there_unless_it_is_taken_over(tmp_path: Path) -> None:
    """Another person's step is refused with who holds the node, until it says that it takes it over."""
    record(tmp_path, wanted("maintenance", 0), NOON)
    with pytest.raises(HeldError, match="alice@deploy"):
        record(tmp_path, wanted("in-service", 1, "bob@deploy"), NOON)
    record(tmp_path, wanted("in-service", 1, "bob@deploy", take_over=True), NOON)
    assert journal(tmp_path).last["r01-n01"].who == "bob@deploy"


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Sixteen people, each with a node of its own and four steps: all 64 are there, each node's in order."""

    def life(node: str) -> None:
        for after, to in enumerate(("enroll", "inspect", "verify", "provision")):
            record(tmp_path, wanted(to, after, node=node), NOON)  # type: ignore[arg-type]

    threads = [threading.Thread(target=life, args=(f"n{number:02}",)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = journal(tmp_path)
    assert len(found.steps) == 64
    assert set(found.states.values()) == {"provision"}


def test_of_many_who_begin_from_the_same_state_exactly_one_goes_on(tmp_path: Path) -> None:
    """However they meet, one is taken and all others are told."""
    told: list[str] = []

    def one(number: int) -> None:
        try:
            record(tmp_path, wanted("maintenance", 0, f"person{number}"), NOON)
        except HeldError as error:
            told.append(str(error))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [step] = journal(tmp_path).steps
    assert len(told) == 11
    assert all(step.who in text for text in told)


def test_a_clock_that_jumps_back_reorders_nothing(tmp_path: Path) -> None:
    """What was written later is later, whatever its time says."""
    record(tmp_path, wanted("maintenance", 0), NOON)
    record(tmp_path, wanted("in-service", 1), NOON - timedelta(days=400))
    found = journal(tmp_path)
    assert [step.state for step in found.of("r01-n01")] == ["maintenance", "in-service"]
    assert found.states == {"r01-n01": "in-service"}


@pytest.mark.parametrize("left", [b'{"node":"r01-n01","st', b"\0" * 60, b"{"])
def test_a_half_written_last_line_loses_nothing_else(tmp_path: Path, left: bytes) -> None:
    """A writer was killed: the steps before are there, and the next one takes the place of the half."""
    first = record(tmp_path, wanted("maintenance", 0), NOON)
    with (tmp_path / JOURNAL_FILE).open("ab") as file:
        file.write(left)
    assert journal(tmp_path).steps == (first,)
    assert journal(tmp_path).torn
    second = record(tmp_path, wanted("in-service", 1), NOON)
    assert journal(tmp_path) == Journal((first, second))


def test_a_last_line_without_its_end_counts(tmp_path: Path) -> None:
    """An editor that takes the file's last newline away takes no step away."""
    first = record(tmp_path, wanted("maintenance", 0), NOON)
    path = tmp_path / JOURNAL_FILE
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert journal(tmp_path).steps == (first,)
    second = record(tmp_path, wanted("in-service", 1), NOON)
    assert journal(tmp_path).steps == (first, second)


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a line that the disk took is taken back, and the command says that nothing was changed."""
    record(tmp_path, wanted("maintenance", 0), NOON)
    before, real = (tmp_path / JOURNAL_FILE).read_bytes(), os.pwrite

    def full(handle: int, data: bytes, offset: int) -> int:
        if len(data) <= 40:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, data[:40], offset)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(LifeError, match="was not changed: No space left on device"):
        record(tmp_path, wanted("in-service", 1), NOON)
    assert (tmp_path / JOURNAL_FILE).read_bytes() == before


def test_two_branches_that_moved_one_node_are_told(tmp_path: Path) -> None:
    """Git puts both lines behind each other; neither is taken for the truth."""
    for name, to, who in (("ours", "maintenance", "alice"), ("theirs", "repair", "bob")):
        (tmp_path / name).mkdir()
        record(tmp_path / name, wanted(to, 0, who), NOON)  # type: ignore[arg-type]
    merged = b"".join((tmp_path / name / JOURNAL_FILE).read_bytes() for name in ("ours", "theirs"))
    _, [problem] = parse_journal(merged, "nodes.jsonl")
    assert (problem.check, problem.where) == ("journal-conflict", "nodes.jsonl:2:1")
    assert "bob" in problem.have
    assert "alice" in problem.have


def test_lines_that_are_broken_or_gone_are_told_and_stop_every_writer(tmp_path: Path) -> None:
    """A mark of git, a changed line and a missing step each have their line; nothing is written behind them."""
    for after, to in enumerate(("enroll", "inspect", "verify")):
        record(tmp_path, wanted(to, after), NOON)  # type: ignore[arg-type]
    path = tmp_path / JOURNAL_FILE
    lines = path.read_text().splitlines()
    _, problems = parse_journal("\n".join(["<<<<<<< HEAD", lines[0], lines[2], "{}", ""]).encode(), "j")
    assert [problem.where for problem in problems] == ["j:1:1", "j:4:1", "j:3:1"]
    assert [problem.what.partition(":")[0] for problem in problems] == [
        "git has merged the journal halfway",
        "this is no step of a node",
        "step 3 of r01-n01 does not follow step 1",
    ]
    path.write_text("\n".join([lines[0], lines[2], ""]))
    before = path.read_bytes()
    with pytest.raises(SpecError, match="does not follow"):
        record(tmp_path, wanted("provision", 3), NOON)
    assert path.read_bytes() == before


def test_a_step_that_is_not_in_the_table_is_not_written(tmp_path: Path) -> None:
    """The refusal says where the node is, and where it may go."""
    record(tmp_path, wanted("repair", 0), NOON)
    with pytest.raises(LifeError, match="in repair does not go to in-service"):
        record(tmp_path, wanted("in-service", 1), NOON)
