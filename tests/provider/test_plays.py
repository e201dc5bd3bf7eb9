"""The provider with real Ansible: what it runs, what it keeps of a run that fails for some, and what it reads."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from coldaisle.drift.ages import read_at
from coldaisle.paths import state_dir
from components.provider.plays import InitFailedError, PlayError
from components.provider.run import RunError

if TYPE_CHECKING:
    from tests.provider.conftest import Engine, Floor

SECRET = "correct-horse-battery-staple"  # noqa: S105 - the value that must not be found


def some(floor: Floor, *names: str) -> dict[str, Any]:
    """Return the inputs of a play on some hosts: each host costs the test a process."""
    inputs = floor.inputs()
    return inputs | {"hosts": {name: inputs["hosts"][name] for name in names}}


def applied(floor: Floor, *names: str) -> dict[str, Any]:
    """Return the outputs of a play that has run on some hosts, without running it."""
    for name in names:
        floor.set(name, "facts.json", f'{{"hostname": "{name}", "mtu.rail0": 9000}}')
    return some(floor, *names)


def test_three_of_four_are_kept_and_the_next_run_resumes(floor: Floor, engine: Engine) -> None:
    """One host fails: the others stay applied, the reason names it, and the next run works on it alone."""
    floor.set("h2", "behaviour", "fail")
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.create(floor.inputs()))
    assert sorted(caught.value.outputs["hosts"]) == ["h1", "h3", "h4"]
    [reason] = caught.value.reasons
    assert reason.startswith("h2: failed in task 'Settle | Write the facts': the firmware refused 8 virtual functions")
    assert "settle.yml:" in reason
    assert "h1 settle | Write the facts … changed" in engine.lines
    assert "h1 settle | done (changed)" in engine.lines
    floor.set("h2", "behaviour", "")
    outputs = asyncio.run(engine.update(caught.value.outputs, floor.inputs()))
    assert outputs["hosts"] == floor.inputs()["hosts"]
    assert [floor.runs(name) for name in floor.names] == [1, 2, 1, 1]


def test_applied_means_verified(floor: Floor, engine: Engine) -> None:
    """A playbook that says "changed" and has set nothing fails the play; so does a fact that cannot be read back."""
    floor.set("h1", "behaviour", "pretend")
    floor.set("h2", "unreadable", "hostname")
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.create(some(floor, "h1", "h2")))
    assert [reason.split(";")[0] for reason in caught.value.reasons] == [
        "h1: failed in task 'read back': hostname is None after the run, planned h1",
        "h2: failed in task 'read back': hostname could not be read: the tool is not installed",
    ]
    assert caught.value.outputs["hosts"]["h2"] == {"mtu.rail0": 9000, "varsDigest": "v1"}


def test_read_sees_drift_and_the_update_repairs_only_that_host(floor: Floor, engine: Engine) -> None:
    """The outputs of a read have what was seen; the diff names it, and the update runs on that host alone."""
    outputs, inputs = applied(floor, "h1", "h3"), some(floor, "h1", "h3")
    floor.set("h3", "facts.json", '{"hostname": "h3"}')
    outputs = asyncio.run(engine.read(outputs, inputs))
    assert asyncio.run(engine.diff(outputs, inputs)) == {'hosts["h3"]["mtu.rail0"]': "UPDATE"}
    assert outputs["hosts"]["h3"]["mtu.rail0"] == "absent"
    assert asyncio.run(engine.update(outputs, inputs)) == some(floor, "h1", "h3") | defaults()
    assert (floor.runs("h1"), floor.runs("h3")) == (0, 1)


def defaults() -> dict[str, Any]:
    """Return the options that the outputs of a play have."""
    return {"timeoutS": 3600, "forks": 25, "onDelete": "undo"}


def test_a_silent_host_keeps_what_was_last_seen(floor: Floor, engine: Engine) -> None:
    """Unreachable is neither drift nor gone: old facts stay, the reason says since when, and others are still read."""
    outputs, inputs = applied(floor, "h1", "h2"), some(floor, "h1", "h2")
    floor.set("h1", "facts.json", '{"hostname": "h1", "mtu.rail0": 1500}')
    floor.write_inventory(unreachable=("h2",))
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.read(outputs, inputs))
    assert caught.value.resource_id == "os-train"
    assert caught.value.outputs["hosts"]["h2"] == inputs["hosts"]["h2"]
    assert caught.value.outputs["hosts"]["h1"]["mtu.rail0"] == 1500
    [reason] = caught.value.reasons
    assert reason.startswith("h2: could not tell since 20")
    assert "hostname, mtu.rail0: unreachable" in reason
    assert read_at(state_dir("floor")).keys() == {"h1"}


def test_a_run_after_a_silent_read_asks_nobody_first(floor: Floor, engine: Engine) -> None:
    """The host that was silent is run on, and read back; the others are neither run on nor asked again."""
    outputs, inputs = applied(floor, "h1", "h2"), some(floor, "h1", "h2")
    floor.write_inventory(unreachable=("h2",))
    with pytest.raises(InitFailedError):
        asyncio.run(engine.read(outputs, inputs))
    floor.write_inventory()
    before = {name: (floor.runs(name), floor.reads(name)) for name in inputs["hosts"]}
    for run in (1, 2):  # once it was run on, nobody is suspected any more: all are asked
        assert asyncio.run(engine.update(outputs, inputs))["hosts"] == inputs["hosts"]
        assert (floor.runs("h2"), floor.reads("h2")) == (before["h2"][0] + 1, before["h2"][1] + run)
        assert (floor.runs("h1"), floor.reads("h1")) == (before["h1"][0], before["h1"][1] + run - 1)


def test_a_host_that_left_the_spec_does_not_hide_the_others(floor: Floor, engine: Engine) -> None:
    """The inventory no longer has h2: h1 is read, and h2 stays as it was until `up` takes it out."""
    outputs, inputs = applied(floor, "h1", "h2"), some(floor, "h1", "h2")
    floor.set("h1", "facts.json", '{"hostname": "h1", "mtu.rail0": 1500}')
    floor.names.remove("h2")
    floor.write_inventory()
    hosts = asyncio.run(engine.read(outputs, inputs))["hosts"]
    assert (hosts["h1"]["mtu.rail0"], hosts["h2"]) == (1500, inputs["hosts"]["h2"])


def test_a_site_that_cannot_be_planned_is_not_known(
    floor: Floor, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spec with a mistake must not end the whole refresh: the hosts' state could not be told."""
    monkeypatch.delenv("COLDAISLE_INVENTORY")
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.read(applied(floor, "h1"), some(floor, "h1")))
    assert caught.value.reasons[0].startswith("h1: could not tell: hostname, mtu.rail0: there is no site folder")
    assert caught.value.outputs["hosts"] == some(floor, "h1")["hosts"]


def test_a_state_folder_that_cannot_be_written_is_named(
    floor: Floor, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full or foreign disk is told in a sentence."""
    (floor.root / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(floor.root / "file"))
    with pytest.raises(RunError, match="cannot write into the state folder of site floor"):
        asyncio.run(engine.create(some(floor, "h1")))


def test_reads_that_come_together_are_one_run(floor: Floor, engine: Engine) -> None:
    """Six plays on the same host cost one start of Ansible: the engine reads resources side by side."""
    outputs, inputs = applied(floor, "h1"), some(floor, "h1")

    async def all_of_them() -> None:
        answers = await asyncio.gather(*(engine.read(outputs, inputs) for _ in range(6)))
        assert all(answer["hosts"] == inputs["hosts"] for answer in answers)

    asyncio.run(all_of_them())
    assert floor.reads("h1") == 1


def test_what_a_run_has_read_back_is_not_read_again(floor: Floor, engine: Engine) -> None:
    """A module that tells what it has read after setting it spares its host a second look; the other host is read."""
    floor.set("h1", "behaviour", "tell")
    inputs = some(floor, "h1", "h2")
    assert asyncio.run(engine.create(inputs))["hosts"] == inputs["hosts"]
    assert (floor.reads("h1"), floor.reads("h2")) == (0, 1)


def test_unreachable_is_not_failed(floor: Floor, engine: Engine) -> None:
    """A host that does not answer during a run is told as that, with what to look at."""
    floor.write_inventory(unreachable=("h1",))
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.create(some(floor, "h1")))
    assert caught.value.reasons[0].startswith("h1: unreachable: ")
    assert "look at its power and its console" in caught.value.reasons[0]


def test_cancel_stops_the_playbook_and_keeps_the_resource(floor: Floor, engine: Engine) -> None:
    """After a cancel the run ends within seconds, says where it was, and leaves no process and no file."""
    floor.set("h1", "behaviour", "sleep 60")

    async def cancelled() -> InitFailedError:
        running = asyncio.create_task(engine.create(some(floor, "h1")))
        while not floor.runs("h1"):  # noqa: ASYNC110 - a file of another process
            await asyncio.sleep(0.1)
        engine.plays.cancel()
        with pytest.raises(InitFailedError) as caught:
            await asyncio.wait_for(running, 15)
        return caught.value

    error = asyncio.run(cancelled())
    assert error.reasons == ["h1: stopped in task 'Settle | Write the facts'; the next run goes on from here"]
    assert error.outputs["hosts"] == {}
    assert list((floor.state / "runs").iterdir()) == []
    assert floor.processes() == []


def test_a_run_that_takes_too_long_is_stopped(floor: Floor, engine: Engine) -> None:
    """The play's own limit ends it; the reason says which task it was in."""
    floor.set("h1", "behaviour", "sleep 60")
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.create(some(floor, "h1") | {"timeoutS": 6}))
    assert caught.value.reasons[0].startswith("h1: not finished after 6 s in task")
    assert floor.processes() == []


def test_a_host_that_another_run_holds_is_left_alone(floor: Floor, engine: Engine) -> None:
    """Two runs on one host do not fight: the second is refused and told who is at work."""
    locks = floor.state / "locks"
    locks.mkdir(parents=True)
    with (locks / "h1.lock").open("w") as held:
        held.write("the play os-serve, process 7, since 2026-11-28T01:00:00Z")
        held.flush()
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(RunError, match="h1 is being changed by the play os-serve, process 7"):
            asyncio.run(engine.create(some(floor, "h1")))
    assert floor.runs("h1") == 0


def test_plays_of_one_run_take_turns_on_a_host(floor: Floor, engine: Engine) -> None:
    """Two plays that the program did not put in an order both get the host, one after the other."""
    inputs = some(floor, "h1")

    async def both() -> None:
        await asyncio.gather(engine.create(inputs), engine.create(inputs))

    asyncio.run(both())
    assert floor.runs("h1") == 2


def test_a_playbook_that_cannot_start_says_why(floor: Floor, engine: Engine) -> None:
    """Where Ansible never comes as far as a host, each host fails with Ansible's own words."""
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.create(some(floor, "h1") | {"playbook": "broken"}))
    assert "coldaisle.nowhere.nothing" in caught.value.reasons[0]


def test_a_missing_ansible_is_named(floor: Floor, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a traceback nor "failed": the message says what is missing and where it was looked for."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(RunError, match="there is no ansible-playbook"):
        asyncio.run(engine.create(some(floor, "h1")))


def test_delete_runs_the_undo(floor: Floor, engine: Engine) -> None:
    """A playbook with an undo is undone."""
    asyncio.run(engine.delete(applied(floor, "h1")))
    assert floor.seen("h1") is None


def test_delete_without_an_undo_is_refused_unless_told_to_forget(floor: Floor, engine: Engine) -> None:
    """Hosts do not silently stay as they are: the program has to say so."""
    outputs = applied(floor, "h1") | {"playbook": "once"}
    with pytest.raises(PlayError, match="has no undo"):
        asyncio.run(engine.delete(outputs))
    asyncio.run(engine.delete(outputs | {"onDelete": "forget"}))
    assert engine.lines == ["1 hosts stay as they are; only their record goes"]


def test_a_secret_of_a_playbook_goes_nowhere(
    floor: Floor, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value that a task looks up is in no output, line, reason or file, during the run and after it."""
    file = tmp_path / "secret"
    file.write_text(SECRET)
    floor.write_inventory(secret_file=file)
    floor.set("h1", "behaviour", "fail")
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", SECRET)
    written: set[str] = set()

    async def watched() -> None:
        running = asyncio.create_task(engine.create(some(floor, "h1")))
        while not running.done():
            written.update(holding(floor.state, SECRET))
            await asyncio.sleep(0.1)
        await running

    with pytest.raises(InitFailedError) as caught:
        asyncio.run(watched())
    assert SECRET not in repr((caught.value.outputs, caught.value.reasons, engine.lines))
    assert written | holding(floor.state, SECRET) == set()


def holding(folder: Path, text: str) -> set[str]:
    """Return the files below a folder that hold a text; files and folders may go while we look."""
    found = set()
    for parent, _, names in os.walk(folder):
        for path in (Path(parent) / name for name in names):
            with contextlib.suppress(OSError):
                if path.is_file() and text in path.read_text(errors="replace"):
                    found.add(path.name)
    return found


def test_a_host_that_the_plan_leaves_alone_is_neither_run_on_nor_asked(floor: Floor, engine: Engine) -> None:
    """In maintenance it is in no run and no read, also where the code is new; back again, it is run on alone."""
    inputs = some(floor, "h1", "h2")
    alone = inputs | {"hosts": {"h1": inputs["hosts"]["h1"], "h2": {"life": "maintenance"}}}
    outputs = asyncio.run(engine.create(alone))
    assert [floor.runs(name) for name in ("h1", "h2")] == [1, 0]
    assert outputs["hosts"] == alone["hosts"]
    assert asyncio.run(engine.diff(outputs, alone)) == {}
    floor.write_inventory(unreachable=("h2",))
    assert asyncio.run(engine.read(outputs, alone))["hosts"] == alone["hosts"]
    floor.write_inventory()
    newer = alone | {"codeDigest": "another"}
    outputs = asyncio.run(engine.update(outputs, newer))
    assert [floor.runs(name) for name in ("h1", "h2")] == [2, 0]
    outputs = asyncio.run(engine.update(outputs, inputs | {"codeDigest": "another"}))
    assert [floor.runs(name) for name in ("h1", "h2")] == [2, 1]
    assert outputs["hosts"] == inputs["hosts"]


def test_a_silent_host_that_goes_into_maintenance_is_not_run_on(floor: Floor, engine: Engine) -> None:
    """It could not be read, so the next run would begin with it; somebody took it out meanwhile, and it stays alone."""
    outputs = applied(floor, "h1", "h2")
    floor.write_inventory(unreachable=("h2",))
    with pytest.raises(InitFailedError):
        asyncio.run(engine.read(outputs, outputs))
    floor.write_inventory()
    alone = outputs | {"hosts": {"h1": outputs["hosts"]["h1"], "h2": {"life": "maintenance"}}}
    assert asyncio.run(engine.update(outputs, alone))["hosts"] == alone["hosts"]
    assert (floor.runs("h1"), floor.runs("h2")) == (0, 0)


def test_nothing_is_undone_on_a_host_that_is_left_alone(floor: Floor, engine: Engine) -> None:
    """A play that goes away undoes the others; with nobody else, only its record goes."""
    outputs = applied(floor, "h1", "h2")
    alone = {"life": "maintenance"}
    asyncio.run(engine.delete(outputs | {"hosts": {"h1": outputs["hosts"]["h1"], "h2": alone}}))
    assert (floor.seen("h1"), floor.seen("h2") is None) == (None, False)
    asyncio.run(engine.delete(outputs | {"playbook": "once", "hosts": {"h2": alone}}))
    assert engine.lines[-1] == "its hosts are retired or in maintenance; only their record goes"
