"""What the command keeps, prints and does, without a host: files, a lock, tickets over HTTP, results of playbooks."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.health import Round
from coldaisle.cli.health_actions import Hands
from coldaisle.cli.health_files import BusyError, Kept, alone, load, save
from coldaisle.cli.health_print import exit_code, lines
from coldaisle.cli.playbook import HostResult, _of_host
from coldaisle.health.limits import Step
from coldaisle.health.readings import Cursors
from coldaisle.health.state import StateError
from coldaisle.spec.health import HealthSpec
from tests.unit.health.sites import GPU, Hall, event, plan, topology

NODE = "r01-n06"
TICKET = Step(NODE, "ticket", GPU, "xid 79")


def at_its_ticket() -> Hall:
    """Return a hall with a node whose ladder has one rung left."""
    hall = Hall(outcome=lambda step: step.rung not in {"reset", "reboot", "ticket"})
    for _ in range(3):
        hall.tick([event(NODE, "xid", "79", hall.now + 60)])
    return hall


def test_what_is_kept_is_read_back_and_a_damaged_file_is_told(tmp_path: Path) -> None:
    """The same after a round trip; half a file, or one of another release, is refused with what to do."""
    kept = Kept(at_its_ticket().state, {NODE: Cursors("s=1", "2026")})
    save(tmp_path, kept)
    assert load(tmp_path) == kept
    whole = (tmp_path / "state.json").read_text()
    for damaged in (whole[: len(whole) // 2], whole.replace('"schema_version": "1"', '"schema_version": "9"'), "[]"):
        (tmp_path / "state.json").write_text(damaged)
        with pytest.raises(StateError, match="move it away"):
            load(tmp_path)


def test_two_runs_of_a_site_do_not_meet(tmp_path: Path) -> None:
    """The second is refused while the first is at work, and not afterwards."""
    with alone(tmp_path), pytest.raises(BusyError, match="another"), alone(tmp_path):
        pass
    with alone(tmp_path):
        pass


@pytest.fixture
def desk() -> Iterator[tuple[str, list[Any]]]:
    """Return the address of a desk that takes tickets, and what it has taken; the first one it refuses."""
    taken: list[Any] = []

    class Desk(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(503 if len(taken) == 1 else 201)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Desk)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/tickets", taken
    server.shutdown()
    server.server_close()


def test_a_ticket_that_the_desk_refuses_is_posted_again(desk: tuple[str, list[Any]], tmp_path: Path) -> None:
    """It is not lost: the rung waits until the desk has taken it."""
    hall = at_its_ticket()
    hands = Hands(plan(10), topology(10), HealthSpec(ticket_webhook=desk[0]), tmp_path)
    assert hands.do(TICKET, hall.state, hall.now) == (False, f"{desk[0]} answered 503")
    assert [(step.node, step.rung) for step in hall.tick().steps] == [(NODE, "ticket")]
    assert hands.do(TICKET, hall.state, hall.now) == (True, "")
    assert [(ticket["node"], ticket["part"]) for ticket in desk[1]] == [(NODE, GPU)] * 2


def test_a_full_disk_loses_no_ticket(tmp_path: Path) -> None:
    """A ticket that cannot be written is a rung that failed, with the reason."""
    hall = at_its_ticket()
    hands = Hands(plan(10), topology(10), HealthSpec(), tmp_path / "missing")
    ok, why = hands.do(TICKET, hall.state, hall.now)
    assert not ok
    assert why.startswith("the ticket cannot be written")


def test_a_node_whose_pods_do_not_go_is_not_reset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a cluster there is nobody to ask; with one, pods are evicted or nothing is done."""
    refused = HostResult(error="a disruption budget allows none")
    monkeypatch.setattr("coldaisle.cli.health_actions.run_on_host", lambda *_asked: refused)
    hands = Hands(plan(10), topology(10), HealthSpec(), tmp_path)
    drain = Step(NODE, "drain", GPU, "xid 79")
    assert hands.do(drain, at_its_ticket().state, 0.0) == (True, "the site has no cluster")
    with_cluster = replace(hands, plan=replace(plan(10), cluster=object()))  # type: ignore[arg-type]  # any cluster
    assert with_cluster.do(drain, at_its_ticket().state, 0.0) == (False, "a disruption budget allows none")


def test_the_report_says_what_is_wrong_what_follows_and_what_waits() -> None:
    """A line a condition and a step, and the limit of those that wait."""
    nodes = [f"r01-n{number:02}" for number in range(1, 11)]
    decision = Hall().tick([event(node, "xid", "79") for node in nodes])
    text = lines(Round(decision, notes={"r01-n03": ("kernel_log: journalctl is not installed",)}))
    assert text[0].startswith("r01-n01  SysLogsXIDError since 20")
    assert text[10].startswith("burst: xid 79 on 10 of 10 nodes of hall hall1 at once")
    assert text[11] == "r01-n01  drain is proposed for gpu 0000:58:00.0 (xid 79)"
    assert text[12] == "r01-n02  drain waits: 1 of 10 nodes of its pool are out, 1 may be (max_pool_share)"
    assert text[-2:] == [
        "and 4 more wait, by the same limits",
        "r01-n03  could not tell kernel_log: journalctl is not installed",
    ]
    assert exit_code(Round(decision)) == ExitCode.CHECK_FAILED


def test_a_hall_that_is_well_says_so() -> None:
    """No line but one, and exit code 0; with something that could not be read, 3."""
    well = Round(Hall().tick())
    assert lines(well) == ["all nodes are well"]
    assert exit_code(well) == ExitCode.CLEAN
    assert exit_code(replace(well, notes={"r01-n01": ("kernel_log: silent",)})) == ExitCode.COULD_NOT_TELL


def test_the_reason_of_a_failed_task_is_what_the_command_said() -> None:
    """Of a loop, the item that failed; of a host that is not in the play, that it was not asked."""
    failed = {"failed": True, "msg": "non-zero return code", "stdout": "GPU is lost.", "stderr": ""}
    document = {"plays": [{"tasks": [{"hosts": {"a": failed, "b": {"results": [{}, failed], "failed": True}}}]}]}
    assert _of_host(document, "a").error == "non-zero return code: GPU is lost."
    assert _of_host(document, "b").error == "non-zero return code: GPU is lost."
    assert _of_host(document, "c").error.startswith("it was not asked")
