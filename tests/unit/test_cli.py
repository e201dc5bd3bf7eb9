"""The command line: exit codes, JSON, and failures without a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # it has no types of its own
import pytest
import yaml

from coldaisle.cli import app, main
from coldaisle.cli.output import complete_site
from coldaisle.cli.schema import site_schema

Edit = Callable[[str, str, str], None]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command line, and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["coldaisle", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    return int(done.value.code or 0)


@pytest.mark.usefixtures("site")
def test_check_passes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A clean site ends with 0 and says so."""
    assert run(monkeypatch, "check", "case") == 0
    assert capsys.readouterr().out == "case: every check passed.\n"


def test_check_tells_of_an_invalid_spec(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], edit: Edit
) -> None:
    """An invalid spec ends with 2, and its problems are in the JSON."""
    edit("site.yaml", "domain:", "domian:")
    assert run(monkeypatch, "check", "case", "--json") == 2
    said = json.loads(capsys.readouterr().out)
    assert [(found["check"], found["where"]) for found in said["findings"]] == [
        ("unknown-key", "inventory/case/site.yaml:4:3")
    ]


def test_check_fails_on_an_error(monkeypatch: pytest.MonkeyPatch, edit: Edit) -> None:
    """A finding that is an error ends with 4."""
    edit("hardware.yaml", "52:54:00:02:02:02", "52:54:00:01:01:02")
    assert run(monkeypatch, "check", "case") == 4


def test_strict_counts_warnings(monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    """A warning ends with 0, and with 4 where every warning counts as an error."""
    (site / "allocations.yaml").unlink()
    assert run(monkeypatch, "check", "case") == 0
    assert run(monkeypatch, "check", "case", "--strict") == 4


@pytest.mark.usefixtures("site")
def test_plan_prints_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The plan's JSON has its version first, and the keys that readers build on."""
    assert run(monkeypatch, "plan", "case", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert next(iter(plan.items())) == ("schema_version", "1")
    switch, cable = plan["fabrics"]["compute"]["switches"][0], plan["fabrics"]["compute"]["cables"][0]
    assert {"name", "role", "model"} <= switch.keys()
    assert cable["a"].keys() == cable["b"].keys() == {"device", "port"}
    assert len(plan["nodes"]) == 4
    assert plan["facility"]["it_power_w"] > 0


@pytest.mark.usefixtures("site")
def test_plan_prints_tables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """People get racks, fabrics, pools and plays as tables."""
    assert run(monkeypatch, "plan", "case") == 0
    said = capsys.readouterr().out
    assert "4 nodes, 32 GPUs, 2 racks" in said
    for title in ("Racks", "Cooling", "Fabrics", "Pools", "Endpoints", "Plays, in order"):
        assert title in said


def test_allocate_writes_once(monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    """What was handed out is written, and written the same again."""
    (site / "allocations.yaml").unlink()
    assert run(monkeypatch, "plan", "case", "--allocate") == 0
    first = (site / "allocations.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(first)["management"]["r01-n01"] == "198.18.1.101"
    assert run(monkeypatch, "plan", "case", "--allocate") == 0
    assert (site / "allocations.yaml").read_text(encoding="utf-8") == first


def test_allocate_keeps_off_a_wrong_plan(monkeypatch: pytest.MonkeyPatch, site: Path, edit: Edit) -> None:
    """What a plan with errors hands out is not written."""
    before = (site / "allocations.yaml").read_text(encoding="utf-8")
    edit("hardware.yaml", "52:54:00:02:02:02", "52:54:00:01:01:02")
    assert run(monkeypatch, "plan", "case", "--allocate") == 4
    assert (site / "allocations.yaml").read_text(encoding="utf-8") == before


def test_allocate_tells_of_a_folder_that_is_in_the_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], site: Path
) -> None:
    """A file that cannot be written ends with 1 and a reason, and leaves nothing half-made beside it."""
    (site / "allocations.yaml").unlink()
    (site / "allocations.yaml").mkdir()
    assert run(monkeypatch, "plan", "case", "--allocate") == 1
    assert "allocations.yaml cannot be written: Is a directory" in capsys.readouterr().err
    assert [path for path in site.iterdir() if path.suffix == ".tmp"] == []


@pytest.mark.parametrize("arguments", [("check", "nowhere"), ("check",), ("chekc", "case"), ("plan", "nowhere")])
def test_wrong_usage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Wrong usage ends with 2."""
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, *arguments) == 2


@pytest.mark.usefixtures("site")
def test_our_own_failure_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A failure of ours ends with 1 and a line; --debug shows the traceback."""

    def fails(_folder: Path) -> None:
        raise RuntimeError("the floor is wet")

    monkeypatch.setattr("coldaisle.check.open_site", fails)
    assert run(monkeypatch, "check", "case") == 1
    said = capsys.readouterr().err
    assert "it is our fault: RuntimeError: the floor is wet" in said
    assert "Traceback" not in said
    monkeypatch.setattr(sys, "argv", ["coldaisle", "--debug", "check", "case"])
    with pytest.raises(RuntimeError):
        main()


@pytest.mark.usefixtures("site")
def test_a_reader_may_go_away() -> None:
    """A pipe that closes early is no failure."""
    command = f"{sys.executable} -m coldaisle plan case --json | head -c 10"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("{")


def test_only_the_wanted_command_is_imported() -> None:
    """A command starts without what only others need."""
    code = "import sys; from coldaisle.cli.app import build_app; build_app('schema'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pulumi", "ansible", "pydantic", "coldaisle.cli.drift", "coldaisle.spec"} & set(loaded)


def test_every_command_is_there() -> None:
    """Each command has its module, and its help begins with one short sentence."""
    names = {command.name for command in app.build_app(None).registered_commands}
    groups = {group.name for group in app.build_app(None).registered_groups}
    assert names | groups == set(app.COMMANDS)


def test_completion_offers_sites(site: Path) -> None:
    """The shell completes the names of sites."""
    assert complete_site("ca") == [site.name]
    assert complete_site("x") == []


def test_the_schema_takes_the_base_site(site: Path) -> None:
    """Every file of a valid site is valid under the JSON Schema, and a misspelt key is not."""
    checker = jsonschema.Draft202012Validator(site_schema())
    for path in sorted(site.glob("*.yaml")):
        if path.name != "allocations.yaml":
            checker.validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert not checker.is_valid({"site": {"nmae": "case"}})


def test_the_schema_says_what_fields_mean() -> None:
    """Docstrings of fields are in the schema, so that an editor shows them."""
    fields = site_schema()["$defs"]["SiteSection"]["properties"]
    assert fields["admin_key_file"]["description"].startswith("SSH private key of the administrators")
