"""
A tenth of the hosts cut off, before each play of a hall and in the middle of it.

The other nine end as planned, the tenth is named with where to look, and the next run does what is left: nothing that
the nine had is done again. The play of the operating system is in test_runs; rdma and kubernetes need guests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sim import faults
from sim.power import PowerSwitch
from sim.state import read_json
from tests.hall.test_faults import target
from tests.hall.test_runs import machine, started, told, until
from tests.hall_sites import Hall

pytestmark = pytest.mark.drill

CUT = "r01-n07"
GPU_FILE = "etc/modprobe.d/90-coldaisle-nouveau.conf"


@dataclass(frozen=True)
class Phase:
    """
    A play, and how its tenth host is cut off and comes back.

    `spoil` makes work for every host; `mark` returns what shows of a host that it was worked on, and when.
    """

    play: str
    spoil: Callable[[Hall], object]
    mark: Callable[[Hall, str], object]
    slow: Callable[[Hall], object]
    begun: Callable[[Hall], bool]
    cut: Callable[[Hall], object]
    back: Callable[[Hall], object]
    why: tuple[str, ...]


def names(floor: Hall) -> list[str]:
    """Return the hosts of the hall."""
    return [node.name for node in floor.plan.nodes]


def nothing(_floor: Hall) -> None:
    """Do nothing."""


# -- the BMC that is cut off -------------------------------------------------------------------------------------
def boot_of(floor: Hall, host: str) -> object:
    """Return what a BMC has been told to boot from, and when its record was last written."""
    path = floor.state.bmcs / f"{host}.json"
    return read_json(path).get("boot_device"), path.stat().st_mtime_ns


def spoil_boots(floor: Hall) -> None:
    """Have every BMC boot from something that is not planned."""
    for host in names(floor):
        faults.inject(target(floor, host), "boot-order-drift", {})
        _forget(floor, host, "boot-order-drift")


def _forget(floor: Hall, host: str, fault: str) -> None:
    """Forget a fault without taking its effect back: that is the play's to do."""
    path = floor.state.faults / f"{host}.json"
    left = {name: options for name, options in read_json(path).items() if name != fault}
    path.write_text(json.dumps(left))


def slow_bmc(floor: Hall) -> None:
    """Let the tenth BMC take seconds for each answer, so that there is a middle."""
    faults.inject(target(floor, CUT), "bmc-slow", {"at_least_s": 2, "at_most_s": 3})


def hang_bmc(floor: Hall) -> None:
    """Let the tenth BMC answer nothing any more."""
    faults.inject(target(floor, CUT), "bmc-hang", {})


def heal_bmc(floor: Hall) -> None:
    """Let the tenth BMC answer again; the process that hung in requests is another one then."""
    for fault in ("bmc-hang", "bmc-slow"):
        faults.clear(target(floor, CUT), fault)
    floor.restart_bmcs()


def a_bmc_is_done(floor: Hall) -> bool:
    """Tell whether the first BMC has its boot device."""
    return read_json(floor.state.bmcs / f"{names(floor)[0]}.json").get("boot_device") == "Hdd"


# -- the host that is cut off ------------------------------------------------------------------------------------
def gpu_file(floor: Hall, host: str) -> Path:
    """Return where the file of the play lies on this machine."""
    return machine(floor, host).path / "upper" / GPU_FILE


def written_of(floor: Hall, host: str) -> object:
    """Return whether a host has the play's file, and when it was written."""
    path = gpu_file(floor, host)
    return path.is_file(), path.stat().st_mtime_ns if path.is_file() else 0


def spoil_files(floor: Hall) -> None:
    """Remove the file of the play on every host."""
    inventory = str(floor.state.folder / "inventory.yaml")
    floor.run("ansible", "all", "-i", inventory, "-m", "raw", "-a", f"rm -f /{GPU_FILE}")


def cut_power(floor: Hall) -> None:
    """Turn the tenth host off."""
    PowerSwitch(floor.state).turn_off(machine(floor, CUT))


def power_again(floor: Hall) -> None:
    """Turn the tenth host on."""
    PowerSwitch(floor.state).turn_on(machine(floor, CUT))


BMC = Phase(
    "bmc", spoil_boots, boot_of, slow_bmc, a_bmc_is_done, hang_bmc, heal_bmc, ("no-answer", "no-connection", "busy")
)
GPU = Phase(
    "gpu",
    spoil_files,
    written_of,
    nothing,
    lambda floor: gpu_file(floor, CUT).is_file(),
    cut_power,
    power_again,
    ("not up after", "unreachable"),
)


@pytest.fixture(params=[BMC, GPU], ids=["bmc", "gpu"])
def phase(request: pytest.FixtureRequest, brought_up: Hall) -> Iterator[Phase]:
    """Return a play whose work is undone on every host; the hall is as planned afterwards."""
    found: Phase = request.param
    found.spoil(brought_up)
    yield found
    found.back(brought_up)
    assert brought_up.plays("apply", found.play)["reasons"] == {}


def again(floor: Hall, play: str) -> list[str]:
    """Return the words that run a play on all hosts, as if it had never run: what the state knew of it is forgotten."""
    file = floor.folder / "outputs.json"
    outputs = json.loads(file.read_text())
    outputs.pop(f"{play}-light", None)
    file.write_text(json.dumps(outputs))
    return ["apply", play]


@pytest.mark.parametrize("middle", [False, True], ids=["before", "middle"])
def test_nine_of_ten_are_done_and_the_tenth_is_named(brought_up: Hall, phase: Phase, *, middle: bool) -> None:
    """The run keeps nine and names one; the next run ends as planned, and leaves the nine alone."""
    others = [host for host in names(brought_up) if host != CUT]
    if middle:
        phase.slow(brought_up)
    else:
        phase.cut(brought_up)
    before = {host: phase.mark(brought_up, host) for host in others}
    running = started(brought_up, *again(brought_up, phase.play))
    if middle:
        until(lambda: phase.begun(brought_up))
        phase.cut(brought_up)
    first: dict[str, Any] = told(running)
    done = {host: phase.mark(brought_up, host) for host in others}
    phase.back(brought_up)
    second = brought_up.plays("apply", phase.play)

    [reason] = first["reasons"][f"{phase.play}-light"]
    assert reason.startswith(f"{CUT}: ")
    assert any(word in reason for word in phase.why)
    assert "look at" in reason
    assert first["hosts"][f"{phase.play}-light"] == others
    assert all(before[host] != done[host] for host in others)
    assert second["reasons"] == {}
    assert second["hosts"][f"{phase.play}-light"] == names(brought_up)
    assert {host: phase.mark(brought_up, host) for host in others} == done
    assert phase.mark(brought_up, CUT)[0] == done[others[0]][0]  # type: ignore[index]
