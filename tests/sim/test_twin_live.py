"""Twins that run: FRR, lldpd, ibsim and opensm for real. They need root, and are gone when they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sim.shell import environment
from sim.twin.place import Place, is_clear
from tests import twin_sites
from tests.programs import required

ROOT = Path(__file__).parents[2]
ETHERNET = ("vtysh", "lldpd", "ping", "nsenter")
INFINIBAND = ("ibsim", "opensm", "ibnetdiscover")
START_S = 60
LIMIT_S = 240


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site of two spines and two leaves; its name is that of no site that somebody has."""
    for program in ETHERNET:
        required(program, environment()["PATH"])
    return twin_sites.write(tmp_path_factory.mktemp("sites") / f"twin{os.getpid()}", 2, 2)


def command(folder: Path | str, *options: str) -> list[str]:
    """Return the words that run a twin."""
    return [sys.executable, "-m", "coldaisle", "sim", "fabric", str(folder), "--json", *options]


def twin(folder: Path | str, *options: str) -> tuple[int, dict[str, Any]]:
    """Run a twin, and return its exit status and what it found of its one fabric."""
    done = subprocess.run(
        command(folder, *options), cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode in {0, 3, 4}, done.stderr
    (found,) = json.loads(done.stdout)["fabrics"]
    return done.returncode, found


def started(folder: Path) -> subprocess.Popen[bytes]:
    """Start a twin, and return once its switches run."""
    place = Place(folder.name, "compute")
    process = subprocess.Popen(
        command(folder), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + START_S
    while not any(name.endswith("-bgpd") for name in place.groups.names()):
        assert process.poll() is None, "it ended before its switches ran"
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return process


def test_a_fabric_does_what_its_plan_promises(site: Path) -> None:
    """Sessions, equal paths, MTU, reach and every single failure are as planned, and nothing stays."""
    status, found = twin(site)
    checks = {each["name"]: each["status"] for each in found["checks"]}
    assert set(checks) >= {"cables", "sessions", "equal-paths", "mtu", "reach-in-rail", "reach-across-rails",
                           "survives-link", "survives-spine", "survives-leaf"}  # fmt: skip
    assert (status, set(checks.values())) == (0, {"passed"}), found["checks"]
    drills = [each for each in found["drills"] if each["kind"] == "link"]
    assert len(drills) == 4
    assert all(each["crossed"] > 0 and 0 <= each["outage_ms"] < 9000 for each in drills), drills
    assert is_clear(Place(site.name, "compute"))


def test_mistakes_are_named_after_a_run_that_was_killed(site: Path) -> None:
    """What a killed run left is cleared away; then a pulled cable is missing, and two swapped ones are one swap."""
    killed = started(site)
    killed.kill()
    killed.wait()
    place = Place(site.name, "compute")
    assert not is_clear(place)
    status, found = twin(site, "--pull", "leaf01:swp17", "--swap", "leaf01:swp18", "leaf02:swp17")
    kinds = {each["kind"]: each for each in found["cabling"]["findings"]}
    assert (status, set(kinds)) == (4, {"missing", "swapped"})
    assert {end["port"] for end in kinds["missing"]["ends"]} == {"swp17", "swp1"}
    swapped = {(end["device"], end["port"]) for end in kinds["swapped"]["ends"]}
    assert swapped in ({("leaf01", "swp18"), ("leaf02", "swp17")}, {("spine02", "swp1"), ("spine01", "swp2")})
    checks = {each["name"]: each for each in found["checks"]}
    assert checks["sessions"]["status"] == "failed"
    assert checks["sessions"]["seen"].startswith("2 of 8 ")
    assert checks["survives"]["status"] == "not run"
    assert is_clear(place)


def test_an_interrupted_twin_leaves_nothing(site: Path) -> None:
    """After ^C the exit status is that of an interrupted program, and everything is gone."""
    process = started(site)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=START_S) == 128 + signal.SIGINT
    assert is_clear(Place(site.name, "compute"))


def test_an_infiniband_fabric_is_what_ibnetdiscover_sees() -> None:
    """The subnet comes up with fat-tree routes; two swapped cables are one swap, and nothing else is wrong."""
    for program in INFINIBAND:
        required(program, environment()["PATH"])
    status, found = twin("h100-pod", "--fabric", "compute", "--swap", *_two_cables())
    checks = {each["name"]: each["status"] for each in found["checks"]}
    assert checks == {"subnet-up": "passed", "routing": "passed", "lids": "passed", "cables": "failed"}
    assert [each["kind"] for each in found["cabling"]["findings"]] == ["swapped"]
    assert status == 4
    assert is_clear(Place("h100-pod", "compute"))


def _two_cables() -> tuple[str, str]:
    """Return the lower ends of two cables to different leaves."""
    from coldaisle.check import open_site  # noqa: PLC0415 - one use

    cables = open_site(ROOT / "inventory" / "h100-pod").plan.fabrics["compute"].cables
    first = cables[0]
    second = next(each for each in cables if each.kind == first.kind and each.b.device != first.b.device)
    return f"{first.a.device}:{first.a.port}", f"{second.a.device}:{second.a.port}"
