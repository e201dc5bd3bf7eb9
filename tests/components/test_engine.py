"""Stacks in Pulumi's real engine: what a preview shows, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from coldaisle.check import open_site
from coldaisle.check.report import report
from tests.components.engine import ROOT, Engine, engine, new_project

PROGRAM = (ROOT / "stacks" / "__main__.py").read_text(encoding="utf-8")
POLICIES = str(ROOT / "policies")

OVERLOADED = """
from dataclasses import replace
from pathlib import Path
from coldaisle.check import open_site
from components.facility import Rack

rack = open_site(Path("{root}/inventory/sim")).plan.facility.racks[0]
feed = replace(rack.feeds[0], load_w=rack.feeds[0].capacity_w + 1000)
Rack("r99", replace(rack, name="r99", feeds=(feed, *rack.feeds[1:])))
"""

SHARED = """
import pulumi

inputs = {{"folder": "{root}/inventory/sim", "layers": ["facility"], "planHash": None}}
site = pulumi.ComponentResource("coldaisle-site:index:SiteStack", "site", inputs, remote=True)
"""


def project(folder: Path, site: str, layers: list[str]) -> Engine:
    """Return an engine on a project of one site, whose spec is a copy that the test may change."""
    home = new_project(folder, PROGRAM)
    shutil.copytree(ROOT / "inventory" / site, home / "inventory" / site)
    shutil.copytree(ROOT / "inventory" / "catalog", home / "inventory" / "catalog")
    config = f"config: {{'coldaisle:site': {site}, 'coldaisle:layers': {json.dumps(layers)}}}\n"
    (home / "stacks" / "Pulumi.test.yaml").write_text(config, encoding="utf-8")
    return ready(engine(folder))


def ready(pulumi: Engine) -> Engine:
    """Make the stack."""
    made = pulumi("stack", "init", "test")
    assert made.returncode == 0, made.stderr
    return pulumi


@pytest.fixture
def pod(tmp_path: Path) -> Engine:
    """Return an engine on the site of four scalable units, floor only."""
    return project(tmp_path, "h100-pod", ["facility", "fabric", "metal"])


def test_the_preview_of_a_pod_needs_no_network(pod: Engine) -> None:
    """Racks, budgets, switches, pools and plays are shown on a machine that reaches nothing."""
    shown = pod("preview", offline=True)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    for line in (
        "coldaisle:facility:Rack r01 create",
        "coldaisle:facility:PowerFeed utility create",
        "coldaisle:fabric:Tier compute-leaf create",
        "coldaisle:fabric:Tier compute-spine create",
        "coldaisle:metal:NodePool su1 create",
        "coldaisle:ansible:Play os-su1 create",
        'r01: "40800 W on 3 feeds, 32 of 48 U"',
    ):
        assert line in shown.stdout


def test_a_preview_shows_budgets_before_and_after(tmp_path: Path) -> None:
    """A change of the spec shows on feed, source and loop, each figure with what it was and what it will be."""
    pulumi = project(tmp_path, "sim", ["facility"])
    done = pulumi("up", "--yes", "--skip-preview")
    assert done.returncode == 0, done.stdout + done.stderr
    file = pulumi.project / "inventory" / "sim" / "facility.yaml"
    text = file.read_text(encoding="utf-8")
    edits = {
        "breaker_a: 32": "breaker_a: 30",
        "capacity_w: 100000": "capacity_w: 90000",
        "_each: 45000": "_each: 44000",
    }
    for old, new in edits.items():
        assert old in text
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")
    shown = pulumi("preview", "--diff").stdout
    for kind in ("Rack", "PowerFeed", "CoolingLoop"):
        assert f"~ coldaisle:facility:{kind}: (update)" in shown
    changed = [" ".join(line.replace("~", "").split()) for line in shown.splitlines() if " => " in line]
    assert "capacityW : 18401.3 => 17251.2" in changed
    assert "capacityW : 100000 => 90000" in changed
    assert "capacityAfterLossW: 45000 => 44000" in changed
    assert 'crah1: "1550 of 45000 W" => "1550 of 44000 W"' in changed


def test_the_first_preview_of_a_cluster_needs_neither_cluster_nor_mirror(tmp_path: Path) -> None:
    """Before the site is there, all layers are shown: no kubeconfig, no API server and no charts are asked for."""
    pulumi = project(tmp_path, "sim", ["cluster", "platform", "serving", "autoscaling"])
    file = pulumi.project / "inventory" / "sim" / "cluster.yaml"
    absent = file.read_text(encoding="utf-8").replace("file:~/.local", f"file:{tmp_path}/absent")
    file.write_text(absent, encoding="utf-8")
    shown = pulumi("preview", offline=True)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "kubernetes:helm.sh/v3:Release gpu-operator create" in shown.stdout
    assert "kubernetes:keda.sh/v1alpha1:ScaledObject llama create" in shown.stdout


def test_the_policy_pack_passes_a_good_site(pod: Engine) -> None:
    """The pack finds the site of the stack, plans it again, and agrees."""
    shown = pod("preview", "--policy-pack", POLICIES)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "✅ coldaisle" in shown.stdout


def test_an_error_of_the_check_ends_the_preview_in_the_same_words(tmp_path: Path) -> None:
    """Who reads a preview reads what `coldaisle check` says, and no traceback."""
    pulumi = project(tmp_path, "sim", ["facility"])
    file = pulumi.project / "inventory" / "sim" / "serving.yaml"
    data = yaml.safe_load(file.read_text())
    data["autoscaling"]["endpoints"]["llama"]["min_replicas"] = 0
    file.write_text(yaml.safe_dump(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(pulumi.project)
        words = report(open_site(Path("inventory/sim")).findings)
    shown = pulumi("preview")
    assert shown.returncode != 0
    assert "[scale-from-zero]" in words
    assert [line for line in words.splitlines() if line.strip() not in shown.stdout] == []
    assert "Traceback" not in shown.stdout + shown.stderr


def test_a_misspelt_layer_is_told(tmp_path: Path) -> None:
    """A layer that is not there would otherwise be left out without a word."""
    shown = project(tmp_path, "sim", ["facilty"])("preview")
    assert shown.returncode != 0
    assert "coldaisle:layers is facilty; each must be one of facility, fabric, metal" in shown.stdout


def test_the_policy_pack_refuses_an_overloaded_rack(tmp_path: Path) -> None:
    """A program that never ran the checks is held to the limits all the same."""
    new_project(tmp_path, OVERLOADED.format(root=ROOT))
    shown = ready(engine(tmp_path))("preview", "--policy-pack", POLICIES)
    assert shown.returncode != 0
    assert "rack-power" in shown.stdout
    assert "feed a carries 19401 W, and may carry 18401 W" in shown.stdout


def test_programs_in_other_languages_use_the_components(tmp_path: Path) -> None:
    """The components folder is a plugin too: a program hands over a folder, and gets the site's resources."""
    new_project(tmp_path, SHARED.format(root=ROOT))
    shown = ready(engine(tmp_path))("preview")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "coldaisle-site:index:SiteStack site create" in shown.stdout
    assert "coldaisle:facility:Rack r01 create" in shown.stdout
