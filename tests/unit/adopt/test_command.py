"""`coldaisle adopt` on files: what it writes, what it leaves alone, what it prints, and how it ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from coldaisle.cli.app import build_app
from tests.unit.adopt.adopting import EVERY, SITES, exported, lay


def run(*arguments: str, stdin: str | None = None) -> Result:
    """Run the command."""
    return CliRunner().invoke(build_app("adopt"), ["adopt", *arguments], input=stdin)


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, Path]:
    """Return a folder of exports for each source, of the simulated site."""
    return {source: lay(tmp_path / "from" / source, exported("sim", source)) for source in EVERY}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a new site's folder that holds the catalog of its own hardware only."""
    new = tmp_path / "new"
    new.mkdir()
    shutil.copy(SITES / "sim" / "catalog.yaml", new)
    return new


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def options(sources: dict[str, Path], *names: str) -> list[str]:
    """Return options for some sources."""
    return [f"--from={name}={sources[name]}" for name in names]


def test_a_new_site_is_written_and_says_what_it_lacks(sources: dict[str, Path], folder: Path) -> None:
    """Exit 3: the spec is there, and lacks what no source knows; `unknown.md` lists it."""
    result = run(str(folder), *options(sources, *EVERY))
    assert result.exit_code == 3, result.output
    assert "The sources know 2 racks, 4 nodes, 5 switches, 1 other devices, 25 cables." in result.output
    assert "The plan is what the sources say." in result.output
    assert {"site.yaml", "fabrics.yaml", "allocations.yaml", "unknown.md", "hardware.yaml"} <= set(contents(folder))
    assert "| `site.bmc_credentials` |" in (folder / "unknown.md").read_text(encoding="utf-8")


def test_a_second_run_changes_nothing_and_shows_what_moved(sources: dict[str, Path], tmp_path: Path) -> None:
    """A folder with a spec is compared: clean first, then with a cable and an address that somebody changed."""
    site = Path(shutil.copytree(SITES / "sim", tmp_path / "sim"))
    before = contents(site)
    result = run(str(site), *options(sources, *EVERY))
    assert result.exit_code == 0, result.output
    assert "Nothing in" in result.output
    assert "was changed" in result.output
    nodes = sources["kubernetes"] / "nodes.json"
    nodes.write_text(nodes.read_text(encoding="utf-8").replace("198.18.1.101", "198.18.1.191"), encoding="utf-8")
    result = run(str(site), *options(sources, "kubernetes"), "--json")
    assert result.exit_code == 5
    body = json.loads(result.output)
    assert body["differences"] == [
        {"thing": "node r01-n01", "field": "management_address", "planned": "198.18.1.101", "seen": "198.18.1.191",
         "sources": ["kubernetes"]}
    ]  # fmt: skip
    assert body["new"] is False
    assert body["written"] == []
    assert contents(site) == before


def test_nothing_is_written_of_sources_that_are_at_fault(sources: dict[str, Path], folder: Path) -> None:
    """Exit 2 of a source that ends early, 4 of one that has a thing twice; the folder stays as it was."""
    before = contents(folder)
    racks = sources["netbox"] / "racks.json"
    whole = racks.read_text(encoding="utf-8")
    racks.write_text(whole[:40], encoding="utf-8")
    result = run(str(folder), *options(sources, "netbox"))
    assert result.exit_code == 2
    assert "racks.json:1  netbox  [adopt-unreadable]" in result.output
    racks.write_text(whole, encoding="utf-8")
    devices = sources["netbox"] / "devices.json"
    devices.write_text(devices.read_text(encoding="utf-8").replace("SN-R01-N02", "SN-R01-N01"), encoding="utf-8")
    result = run(str(folder), *options(sources, "netbox"))
    assert result.exit_code == 4
    assert "[adopt-duplicate]" in result.output
    assert contents(folder) == before


def test_files_that_are_there_are_not_written_over(sources: dict[str, Path], folder: Path) -> None:
    """A folder that holds a section without site.yaml is somebody's work: it is left alone."""
    (folder / "facility.yaml").write_text("facility: mine\n", encoding="utf-8")
    before = contents(folder)
    result = run(str(folder), *options(sources, "netbox"))
    assert result.exit_code == 2
    assert "facility.yaml is in" in result.output
    assert contents(folder) == before


def test_a_live_cluster_comes_over_standard_input(folder: Path) -> None:
    """`kubectl get nodes -o json` can be piped in."""
    result = run(str(folder), "--from=kubernetes=-", "--json", stdin=exported("sim", "kubernetes")["nodes.json"])
    assert result.exit_code == 3, result.output
    assert json.loads(result.output)["counts"]["nodes"] == 4


def test_all_wrong_options_are_told_at_once(folder: Path) -> None:
    """A source that nobody knows and a path that is not there are told together."""
    result = run(str(folder), "--from=excel=x", "--from=netbox=/nowhere/at/all")
    assert result.exit_code == 2
    assert "--from excel=x: write SOURCE=PATH with one of deepops, kayobe," in result.output
    assert "there is no /nowhere/at/all" in result.output


def test_a_model_that_the_catalog_lacks_is_named(sources: dict[str, Path], tmp_path: Path) -> None:
    """Without the site's own catalog every model is unknown: each is named with whose it is, and none is guessed."""
    result = run(str(tmp_path / "bare"), *options(sources, "netbox"), "--json")
    assert result.exit_code in {3, 5}, result.output
    gaps = {each["path"]: each["what"] for each in json.loads(result.output)["unknown"]}
    assert gaps["catalog.FRR-SWITCH"].startswith(
        "the model FRR-SWITCH of leaf01, leaf02, oob01 and 2 more: the catalog"
    )
    assert "2 nodes: SIM-GUEST, which fits no entry of the catalog" in gaps["node_pools.guests.system"]


def test_secrets_of_an_inventory_are_never_opened(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that hold secrets by their names are passed over, so that nothing of them can be printed."""
    source = lay(tmp_path / "kayobe", exported("sim", "kayobe"))
    for name in ("passwords.yml", "secrets.yml"):
        (source / "kayobe" / name).write_text("hunter2", encoding="utf-8")
    opened: list[str] = []
    reads = Path.read_bytes

    def noted(path: Path) -> bytes:
        opened.append(path.name)
        return reads(path)

    monkeypatch.setattr(Path, "read_bytes", noted)
    assert run(str(folder), f"--from=kayobe={source}").exit_code == 3
    assert "networks.yml" in opened
    assert {"passwords.yml", "secrets.yml"}.isdisjoint(opened)
