"""Firmware updates, against a BMC whose tasks take their time and which starts again in the middle of its own."""

from __future__ import annotations

import hashlib
import itertools
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import bmc as bmc_module
from ansible_collections.coldaisle.site.plugins.module_utils import bmc_firmware, bmc_images, bmc_turns
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_firmware import Updater, Wanted, different, versions
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_firmware_settle import settle_firmware
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_images import check_image
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_lease import HeldError, maintain, power_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import Service
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import change_record, read_record, record_path
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_turns import turn

from sim.bmc.board import Board
from sim.bmc.firmware import Course, Firmware
from tests.sim.bmc_boards import make_board, redfish_of

COLLECTIONS = Path(__file__).parents[2] / "playbooks/collections"
PASSWORD = "secret-of-a-test"  # noqa: S105 - not a secret


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing on the test's output."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Poll often, and remember below the test's folder."""
    monkeypatch.setattr(bmc_module, "RETRY_S", 0.01)
    monkeypatch.setattr(bmc_firmware, "POLL_S", 0.05)
    monkeypatch.setattr(bmc_turns, "POLL_S", 0.02)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def images(tmp_path: Path) -> Iterator[str]:
    """Serve images of BIOS and BMC by HTTP, and give the address of their folder."""
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "bios.bin").write_text("coldaisle-firmware BIOS 2.5.0\n")
    (folder / "bmc.bin").write_text("coldaisle-firmware BMC 2.0.0\n")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def board(tmp_path: Path) -> Board:
    """
    Return a board whose updates take 1.2 s, in which the BMC is away for a part.

    Its clock goes on by 50 ms whenever it is looked at, so that no load of the machine makes a test miss a state.
    """
    found = make_board(tmp_path / "bmc", "admin", PASSWORD)
    ticks = itertools.count()
    course = Course(whole_s=1.2, away_from_s=0.4, away_until_s=0.9)
    found.firmware = Firmware(tmp_path / "bmc/firmware.json", course, clock=lambda: 1e9 + 0.05 * next(ticks))
    return found


@pytest.fixture
def service(board: Board, tmp_path: Path) -> Iterator[Service]:
    """Log in to the board's Redfish side."""
    with redfish_of(board, tmp_path / "bmc") as address:
        yield Service(Access(address, "admin", PASSWORD, timeout_s=5))


def bios(images: str, version: str = "2.5.0") -> Wanted:
    """Return that the BIOS is wanted in a version."""
    return Wanted("BIOS", version, f"{images}/bios.bin")


def test_b21_a_task_is_followed_to_its_end_while_the_bmc_looks_idle(
    board: Board, service: Service, images: str
) -> None:
    """B21: New, Starting and Running are no ends, whatever the service's status says; then the version is read."""
    asked: list[str] = []
    real = board.firmware.state
    board.firmware.state = lambda task: asked.append(real(task)) or real(task)  # type: ignore[method-assign, func-returns-value]
    assert service.get("/redfish/v1/UpdateService")["Status"] == {"State": "Enabled", "Health": "OK"}
    Updater(service, "b21", 20).update(bios(images))
    assert {"New", "Starting", "Running", "Completed"} <= set(asked)
    assert versions(service) == {"BMC": "1.10.0", "BIOS": "2.5.0"}
    assert len(board.firmware.tasks()) == 1


@pytest.mark.parametrize("forgets", [False, True])
def test_b21_a_bmc_that_starts_again_in_its_own_update_is_waited_for(
    board: Board, service: Service, images: str, *, forgets: bool
) -> None:
    """B21: while the BMC is away nothing has ended; one that forgets its task has the version all the same."""
    board.firmware.forgets_tasks = forgets
    Updater(service, "b21", 20).update(Wanted("BMC", "2.0.0", f"{images}/bmc.bin"))
    assert versions(service)["BMC"] == "2.0.0"
    assert len(board.firmware.tasks()) == 1


def test_a_killed_run_is_gone_on_with_and_not_begun_again(board: Board, service: Service, images: str) -> None:
    """The next run follows the task that is there, whether its number was written down or not."""

    def killed(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Updater(service, "again", 20, sleep=killed).update(bios(images))
    assert read_record(record_path("firmware", "again"))["task"] == "/redfish/v1/TaskService/Tasks/1"
    Updater(service, "again", 20).update(bios(images))
    assert len(board.firmware.tasks()) == 1
    with pytest.raises(KeyboardInterrupt):
        Updater(service, "again", 20, sleep=killed).update(Wanted("BMC", "2.0.0", f"{images}/bmc.bin"))
    record_path("firmware", "again").unlink()
    Updater(service, "again", 20).update(Wanted("BMC", "2.0.0", f"{images}/bmc.bin"))
    assert len(board.firmware.tasks()) == 2
    assert versions(service) == {"BMC": "2.0.0", "BIOS": "2.5.0"}


def test_an_update_that_was_lost_with_the_power_is_begun_again(board: Board, service: Service, images: str) -> None:
    """The item has its version of before, the BMC knows no task, and the next run brings the new version by another."""

    def killed(_: float) -> None:
        raise KeyboardInterrupt

    wanted = Wanted("BMC", "2.0.0", f"{images}/bmc.bin")
    with pytest.raises(KeyboardInterrupt):
        Updater(service, "dark", 20, sleep=killed).update(wanted)
    board.firmware.lose_power()
    assert (versions(service)["BMC"], board.firmware.shown_tasks()) == ("1.10.0", {})
    Updater(service, "dark", 20).update(wanted)
    assert versions(service)["BMC"] == "2.0.0"
    assert [bool(task.get("lost")) for task in board.firmware.tasks().values()] == [True, False]


def test_an_update_that_ended_while_nobody_looked_is_forgotten(
    board: Board, images: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later run that finds every version right keeps no task, which another board would not know."""
    monkeypatch.setenv("BMC_USERNAME", "admin")
    monkeypatch.setenv("BMC_PASSWORD", PASSWORD)
    board.firmware.begin("BIOS", f"{images}/bios.bin")
    with redfish_of(board, tmp_path / "bmc") as address:
        change_record(record_path("firmware", address), name="BIOS", image=f"{images}/bios.bin", task="/a/task")
        item = {"name": "BIOS", "version": "2.5.0", "image": f"{images}/bios.bin", "sha256": "0" * 64}
        access = {"address": address, "protocol": "redfish", "credentials": "env:BMC", "update_timeout_s": 20}
        params = {**access, "items": [item], "domain": "r01", "member": "r01-n01"}
        while versions(Service(Access(address, "admin", PASSWORD, timeout_s=5)))["BIOS"] != "2.5.0":
            pass
        assert settle_firmware(params, check=False) == []
        assert read_record(record_path("firmware", address))["task"] is None


def test_a_task_that_ends_badly_is_told_in_the_bmcs_words(board: Board, service: Service, images: str) -> None:
    """Exception is an end and no success, and the next run may begin anew."""
    with pytest.raises(BmcError, match=r"update-failed: task .*/1 ended as Exception: the image is none of BIOS"):
        Updater(service, "bad", 20).update(Wanted("BIOS", "2.5.0", f"{images}/bmc.bin"))
    Updater(service, "bad", 20).update(bios(images))
    assert len(board.firmware.tasks()) == 2


def test_an_update_that_brings_another_version_is_found_out(service: Service, images: str) -> None:
    """The version is read back, not taken from the spec."""
    with pytest.raises(BmcError, match=r"not-kept: the update of BIOS ended, and the BMC shows 2\.5\.0, not 2\.6\.0"):
        Updater(service, "other", 10).update(bios(images, "2.6.0"))


def test_an_update_that_takes_too_long_is_no_failure_of_the_update(board: Board, service: Service, images: str) -> None:
    """The task goes on, the message says so, and the next run follows it."""
    with pytest.raises(BmcError, match=r"update-not-ended: task .*/1 is (New|Starting|Running) after 0 s"):
        Updater(service, "slow", 0).update(bios(images))
    Updater(service, "slow", 20).update(bios(images))
    assert len(board.firmware.tasks()) == 1


def test_what_differs_is_told_and_names_are_checked(service: Service, images: str) -> None:
    """An item in its version is left alone; one that the BMC does not have is a mistake in the spec."""
    assert list(different(service, [bios(images, "2.4.1")])) == []
    assert list(different(service, [bios(images)])) == [(bios(images), "2.4.1")]
    with pytest.raises(BmcError, match="no-such-firmware: the BMC has no CPLD; it shows BIOS, BMC"):
        list(different(service, [Wanted("CPLD", "1", f"{images}/bios.bin")]))


def test_image_is_measured_once_before_a_bmc_gets_it(images: str, tmp_path: Path) -> None:
    """A changed image is refused; one that was measured lately is not fetched for every BMC."""
    right = hashlib.sha256((tmp_path / "images/bios.bin").read_bytes()).hexdigest()
    with pytest.raises(BmcError, match=f"wrong-image: .* has SHA-256 {right}, and {'0' * 64} is pinned"):
        check_image(f"{images}/bios.bin", "0" * 64)
    check_image(f"{images}/bios.bin", right)
    (tmp_path / "images/bios.bin").unlink()
    check_image(f"{images}/bios.bin", right)
    with pytest.raises(BmcError, match=r"no-image: .*404"):
        check_image(f"{images}/missing.bin", right)
    assert bmc_images.GOOD_FOR_S == 3600


def test_one_failure_domain_at_a_time_over_processes(tmp_path: Path) -> None:
    """Two machines of a rack go together, one of another rack waits until both are done."""
    log = tmp_path / "log"
    program = f"""
        import sys, time
        sys.path.insert(0, {str(COLLECTIONS)!r})
        from ansible_collections.coldaisle.site.plugins.module_utils.bmc_turns import turn
        rack, name = sys.argv[1:]
        with turn("firmware", rack, name, 30), open({str(log)!r}, "a") as out:
            print("in", rack, file=out, flush=True)
            time.sleep(0.5)
            print("out", rack, file=out, flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    running = [subprocess.Popen([*command, f"r0{n}", f"r0{n}-n{m}"]) for m in (1, 2) for n in (1, 2)]
    assert [process.wait() for process in running] == [0, 0, 0, 0]
    inside: list[str] = []
    for line in log.read_text().splitlines():
        word, rack = line.split()
        if word == "in":
            assert set(inside) <= {rack}, "two racks at once"
            inside.append(rack)
        else:
            inside.remove(rack)


def test_a_failure_stops_other_domains_until_it_is_made_right() -> None:
    """The rest of the rack may go on, no other rack begins; when the machine is right, they do."""
    with pytest.raises(BmcError, match="broken"), turn("firmware", "r01", "r01-n1", 1):
        raise BmcError("x", "broken", "y")
    with turn("firmware", "r01", "r01-n2", 1):
        pass
    with (
        pytest.raises(BmcError, match=r"stopped: r01-n1 in r01 failed \(x: broken.*so r02 is not begun"),
        turn("firmware", "r02", "r02-n1", 1),
    ):
        pass
    with turn("firmware", "r01", "r01-n1", 1):
        pass
    with turn("firmware", "r02", "r02-n1", 1):
        pass


def test_a_machine_in_maintenance_stops_nobody_else() -> None:
    """Its power is held by somebody, so it was not touched: the run tells it, and the other racks go on."""
    maintain("192.0.2.7", "DIMM swap", 60, "ann@deploy")
    with pytest.raises(HeldError), turn("firmware", "r01", "r01-n1", 1), power_of("192.0.2.7", "firmware update"):
        pass
    with turn("firmware", "r02", "r02-n1", 1):
        pass
