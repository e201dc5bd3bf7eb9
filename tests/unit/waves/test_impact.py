"""`coldaisle impact`: what a preview's changes cost, on a site that is written for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from coldaisle.cli.app import build_app
from coldaisle.paths import state_dir
from sim.hall import spec

OLD, NEW = "580.95.05-1", "580.105.08-1"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a hall of sixteen nodes with eight GPUs each, whose pool is changed at night in waves of four."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = spec.write(tmp_path / "site", 16, "night")
    written = yaml.safe_load((folder / "site.yaml").read_text())
    rollout = {"canary_soak_s": 600, "soak_s": 60, "wave_s": 60}
    written["node_pools"]["light"]["rollout"] = rollout
    (folder / "site.yaml").write_text(yaml.safe_dump(written))
    return folder


def preview(tmp_path: Path, *diff: str, playbook: str = "gpu", hosts: int = 16) -> Path:
    """Write a preview that changes a package on each host, or what `diff` names."""
    names = [f"r01-n{number:02}" for number in range(1, hosts + 1)]
    paths = diff or tuple(f'hosts["{name}"]["package.nvidia-open"]' for name in names)
    step = {
        "op": "update",
        "urn": f"urn:pulumi:night::night::coldaisle:ansible:Play::{playbook}-light",
        "detailedDiff": {path: {"kind": "update"} for path in paths},
        "oldState": {"outputs": {"hosts": {name: {"package.nvidia-open": OLD} for name in names}}},
        "newState": {"inputs": {"hosts": {name: {"package.nvidia-open": NEW} for name in names}}},
    }
    file = tmp_path / "preview.json"
    file.write_text(json.dumps({"steps": [{"op": "same", "urn": "urn:pulumi:night::night::x:y:Z::z"}, step]}))
    return file


def impact(site: Path, *arguments: str) -> Result:
    """Call the command."""
    return CliRunner().invoke(build_app("impact"), ["impact", str(site), *arguments])


def plays(site: Path, file: Path) -> list[dict[str, Any]]:
    """Return what the command says of each play."""
    found: list[dict[str, Any]] = json.loads(impact(site, "--preview", str(file), "--json").stdout)["plays"]
    return found


def test_guesses_are_named_and_measured_times_are_used(site: Path, tmp_path: Path) -> None:
    """A canary and four waves of four and three: drain, apply, verify and uncordon of each, and the soaks."""
    [told] = plays(site, preview(tmp_path))
    assert (told["hosts"], told["reboots"], told["drains"], len(told["waves"])) == (16, 0, 16, 5)
    assert told["guessed"] == ["apply", "drain", "uncordon", "verify"]
    wave_s = 300 + 300 + 60 + 15
    assert told["seconds"] == 5 * wave_s + 600 + 4 * 60
    canary, others = (wave_s + 600) * 8, (wave_s + 60) * 15 * 8
    assert told["gpu_hours"] == round((canary + others) / 3600, 2)
    file = state_dir("night") / "waves" / "durations.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"gpu.apply": [90, 100, 500]}))
    [told] = plays(site, preview(tmp_path))
    assert told["seconds"] == 5 * (wave_s - 200) + 600 + 4 * 60
    assert told["guessed"] == ["drain", "uncordon", "verify"]


def test_the_table_says_what_has_no_way_back(site: Path, tmp_path: Path) -> None:
    """A change of the playbook alone is on every host, disturbs none, and what was written before is not kept."""
    file = preview(tmp_path, "codeDigest")
    [told] = plays(site, file)
    assert (told["hosts"], told["drains"], told["gpu_hours"]) == (16, 0, 0)
    result = impact(site, "--preview", str(file))
    assert result.exit_code == 0
    assert "gpu-light: no way back on 16 hosts: what was written before is not kept" in result.stdout
    assert "gpu-light: guessed, never measured here: apply, verify" in result.stdout


def test_a_closed_window_is_said_and_has_its_code(site: Path, tmp_path: Path) -> None:
    """A pipeline asks before it begins; without --start-now it only reads."""
    written = yaml.safe_load((site / "site.yaml").read_text())
    window = {"days": ["mon"], "opens": "03:00", "closes": "03:10"}
    written["node_pools"]["light"]["rollout"] |= {"windows": [window], "wave_s": 600}
    (site / "site.yaml").write_text(yaml.safe_dump(written))
    words = ("--preview", str(preview(tmp_path)))
    result = impact(site, *words, "--start-now")
    assert result.exit_code == 4  # 03:00 on a Monday, to the second, is the one moment that it would not be
    assert "gpu-light: may not start now; the window opens Mon " in result.stdout
    assert impact(site, *words).exit_code == 0


def test_what_is_no_preview_is_wrong_usage(site: Path, tmp_path: Path) -> None:
    """The fix says where a preview comes from."""
    file = tmp_path / "preview.json"
    file.write_text("Previewing update (night)")
    result = impact(site, "--preview", str(file))
    assert (result.exit_code, "pulumi preview --json" in result.stderr) == (2, True)
