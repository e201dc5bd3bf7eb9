"""The order of `make up`, what `make down` leaves, and in which order tests run."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from coldaisle.toolchain import commands, debian, places, rings, site, tools, venv
from coldaisle.toolchain.errors import FAULT, LACKING, SetupError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from tests.setup.conftest import Machine


class FakeTools:
    """Tools of which the autoscaler's become ready when all are waited for."""

    def __init__(self, steps: list[str], *, complete: bool) -> None:
        """Write down into `steps` what is waited for."""
        self.steps, self.complete = steps, complete

    def wait(self, names: Collection[str] | None = None) -> None:
        """Note the wait."""
        self.steps.append(f"wait {' '.join(names) if names else 'all'}")
        self.complete = self.complete or names is None

    def ready(self, names: Collection[str]) -> bool:
        """Return whether all was waited for."""
        assert names == site.AUTOSCALER_TOOLS
        return self.complete

    def stop(self) -> None:
        """Note that the builder was ended."""
        self.steps.append("stop")


def _steps(monkeypatch: pytest.MonkeyPatch, *, complete: bool, fails: str = "") -> list[str]:
    """Replace what `up` runs, and return the list that it will be written into."""
    steps: list[str] = []

    def run(command: Sequence[str], stack: str = "sim", more: dict[str, str] | None = None) -> None:
        del stack, more
        steps.append(
            " ".join(word.rsplit("/", 1)[-1] for word in command[:3]) + (" part" if "--exclude" in command else "")
        )
        if fails and fails in steps[-1]:
            raise site.CommandFailedError(command, 255)

    monkeypatch.setattr(site, "run", run)
    monkeypatch.setattr(tools, "start", lambda _names=None: FakeTools(steps, complete=complete))
    monkeypatch.setattr(debian, "missing", list)
    monkeypatch.setattr(venv, "ensure", lambda: None)
    return steps


def test_the_site_does_not_wait_for_the_longest_build(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the autoscaler's tools are built everything else is brought up; the last `up` adds the autoscaler."""
    assert machine.bin.is_dir()
    steps = _steps(monkeypatch, complete=False)
    assert commands.main(["up"]) == 0
    assert steps == [
        f"wait {' '.join(site.CLUSTER_TOOLS)}",
        "coldaisle sim up",
        f"wait {' '.join(site.ENGINE_TOOLS)}",
        "pulumi stack select",
        "pulumi up --stack part",
        "wait all",
        "wait all",
        "pulumi up --stack",
    ]


def test_a_second_up_is_one_pulumi_up(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all tools there `pulumi up` runs once."""
    assert machine.bin.is_dir()
    steps = _steps(monkeypatch, complete=True)
    assert commands.main(["up"]) == 0
    assert [step for step in steps if step.startswith("pulumi up")] == ["pulumi up --stack"]


def test_a_failing_step_ends_the_builder(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """No builder goes on in the background after `make up` has failed, and the exit code is one of ours."""
    assert machine.bin.is_dir()
    steps = _steps(monkeypatch, complete=True, fails="sim up")
    assert commands.main(["up"]) == FAULT
    assert steps[-2:] == ["coldaisle sim up", "stop"]


def test_down_leaves_other_sites_and_the_cache(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the simulated site nothing stays; the state of another site, and the cache, are not touched."""
    monkeypatch.setattr(site, "venv_dir", lambda: tmp_path / "none")
    kept = [places.state_dir() / "ord1" / "pulumi", places.cache_dir() / "tools"]
    for folder in (*kept, places.state_dir() / "sim" / "pulumi", places.state_dir() / "pulumi-home"):
        folder.mkdir(parents=True)
    assert commands.main(["down"]) == 0
    assert all(folder.is_dir() for folder in kept)
    assert [path.name for path in places.state_dir().iterdir()] == ["ord1"]
    assert machine.bin.is_dir()


def test_down_deletes_nothing_through_a_mount(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host's root that is still mounted is named, and not emptied."""
    assert machine.bin.is_dir()
    monkeypatch.setattr(site, "venv_dir", lambda: tmp_path / "none")
    point = places.state_dir() / "sim" / "machines" / "root"
    point.mkdir(parents=True)
    mounted = subprocess.run(["/bin/mount", "-t", "tmpfs", "none", str(point)], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting needs root")
    try:
        (point / "file").touch()
        assert commands.main(["down"]) == LACKING
        assert (point / "file").exists()
    finally:
        subprocess.run(["/bin/umount", str(point)], check=True)


def test_a_missing_program_says_how_to_get_it(machine: Machine) -> None:
    """A command of the bring-up that is nowhere is not a traceback."""
    assert machine.bin.is_dir()
    with pytest.raises(SetupError, match="nothing-like-it is not there") as caught:
        site.run(["nothing-like-it"])
    assert "coldaisle doctor" in caught.value.fix


def test_rings_run_from_quick_to_slow(tmp_path: Path) -> None:
    """What needs nothing runs first, what needs the site last, an unknown folder in between; figures are not tests."""
    for name in ("e2e", "unit", "bench", "roles", "something", "cases"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test_it.py").touch()
    assert rings.order(tmp_path) == [f"tests/{name}" for name in ("unit", "cases", "something", "roles", "e2e")]


def test_the_browser_is_installed_for_its_ring_only(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make test` gets the browser where its ring runs, and goes on without one where none is to be had."""
    machine.program("dpkg-query", "")
    asked: list[list[str]] = []

    def install(packages: list[str]) -> None:
        asked.append(packages)
        raise SetupError("no apt", have="", fix="")

    monkeypatch.setattr(debian, "install", install)
    monkeypatch.setattr(site, "install", lambda _names: FakeTools([], complete=True))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, stdout=""))
    assert rings.run(["tests/unit"]) == 0
    assert asked == []
    assert rings.run(["tests/unit", "tests/browser"]) == 0
    assert asked == [["chromium-headless-shell"]]
