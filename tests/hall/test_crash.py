"""
The play of firmware, cut off by `kill -9` of its runner at each phase of an update, and by ^C, on a BMC of a hall.

Whatever was cut off: the next run ends with the planned version, and the BMC was given one task, never two.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from sim.hall.plan import deploy_addresses
from sim.state import read_json
from tests.hall.test_runs import started, until
from tests.hall_sites import Hall, hall

pytestmark = pytest.mark.drill

PORT, ITEM, VERSION = 8099, "BMC", "2.0.0"
"""The BMC's own firmware: it starts again in the middle of the update, and answers nobody meanwhile."""

NODE = "r01-n01"
AWAY_S, DONE_S = 4.0, 6.2
"""A moment after its begin at which the simulated BMC is away, and one at which the task has just ended."""


@contextmanager
def image_server(floor: Hall, folder: Path) -> Iterator[None]:
    """Serve an image of the item at VERSION from the deploy host, and have the pool pin it."""
    address = deploy_addresses(floor.plan)[0].partition("/")[0]
    image = folder / "bmc.bin"
    image.write_text(f"coldaisle-firmware {ITEM} {VERSION}\n")
    pin(floor, VERSION, f"http://{address}:{PORT}/{image.name}", hashlib.sha256(image.read_bytes()).hexdigest())
    words = [sys.executable, "-m", "http.server", str(PORT), "--bind", address, "--directory", str(folder)]
    server = subprocess.Popen(floor.command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        server.kill()
        server.wait()


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """Return a hall of one node whose pool pins the BMC's firmware; the deploy host serves the image."""
    with (
        hall(1, name=f"c{os.getpid() % 100000}") as found,
        image_server(found, tmp_path_factory.mktemp("images")),
    ):
        found.renew()
        found.plays("prepare")
        yield found


def pin(floor: Hall, version: str, image: str, sha256: str, **pool: Any) -> None:  # noqa: ANN401 - of a spec
    """Write the version of the item, and more of the pool, into the spec."""
    file = floor.folder / "site.yaml"
    sections = yaml.safe_load(file.read_text())
    item = {"name": ITEM, "version": version, "image": image, "sha256": sha256}
    sections["node_pools"]["light"] |= {"firmware": [item], **pool}
    file.write_text(yaml.safe_dump(sections, sort_keys=False))


def tasks(floor: Hall, node: str = NODE) -> list[dict[str, Any]]:
    """Return the updates that a BMC was given, the first one first."""
    return list(read_json(floor.state.bmcs / f"{node}.firmware.json").get("tasks", {}).values())


def begun_s(floor: Hall, node: str = NODE) -> float:
    """Return how long ago the first update of a BMC began, in seconds; less than none where none did."""
    return time.time() - float(tasks(floor, node)[0]["at"]) if tasks(floor, node) else -1.0


PHASES: dict[str, Callable[[Hall, int], bool]] = {
    "before it is asked": lambda _floor, worker: worker > 0,
    "when the task is begun": lambda floor, _worker: begun_s(floor) >= 0,
    "while the BMC is away": lambda floor, _worker: begun_s(floor) >= AWAY_S,
    "when the task has ended": lambda floor, _worker: begun_s(floor) >= DONE_S,
}


def worker_of(process: subprocess.Popen[str]) -> int:
    """Return the process that runs the playbook, below a run of plays; 0 where it has not begun."""
    for pid in _below(process.pid):
        if b"worker.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
    return 0


def _below(pid: int) -> Iterator[int]:
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            yield child
            yield from _below(child)


def kill_the_worker(process: subprocess.Popen[str]) -> None:
    """Kill the runner."""
    if worker := worker_of(process):
        os.kill(worker, signal.SIGKILL)


def ask_to_stop(process: subprocess.Popen[str]) -> None:
    """Press ^C."""
    process.send_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("phase", "cut"),
    [*((phase, kill_the_worker) for phase in PHASES), ("when the task is begun", ask_to_stop)],
)
def test_an_update_that_is_cut_off_is_not_begun_again(
    floor: Hall, phase: str, cut: Callable[[subprocess.Popen[str]], None]
) -> None:
    """The next run follows the task that is there; the one after it has nothing to do."""
    (floor.state.bmcs / f"{NODE}.firmware.json").unlink(missing_ok=True)  # the board is another one now
    (floor.folder / "outputs.json").unlink(missing_ok=True)
    running = started(floor, "apply", "bmc_firmware")
    until(lambda: running.poll() is not None or PHASES[phase](floor, worker_of(running)))
    cut(running)
    running.communicate(timeout=120)
    again = [floor.plays("apply", "bmc_firmware") for _ in range(2)]
    assert [found["reasons"] for found in again] == [{}, {}]
    assert [task["version"] for task in tasks(floor)] == [VERSION]
    kept = json.loads((floor.folder / "outputs.json").read_text())["bmc_firmware-light"]["hosts"]
    assert kept[NODE][f"firmware.{ITEM}"] == VERSION
