"""The command `coldaisle drift`, with previews that the engine gave before."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from coldaisle.cli.app import build_app

if TYPE_CHECKING:
    from typer.testing import Result

HERE = Path(__file__).parent


class Engine:
    """Stands in for `pulumi preview`: says what it is told to say, and remembers how it was called."""

    def __init__(self) -> None:
        """Say that all is as planned."""
        self.said, self.code, self.complaint = '{"steps": []}', 0, ""
        self.called: list[str] = []

    def __call__(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
        """Run."""
        self.called = command
        return subprocess.CompletedProcess(command, self.code, self.said, self.complaint)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Engine:
    """Return the engine that the command will call, in an empty folder of sites."""
    made = Engine()
    monkeypatch.setattr("coldaisle.cli.drift.subprocess.run", made)
    monkeypatch.setattr("coldaisle.toolchain.environment.environment", lambda _stack: {})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inventory" / "lab").mkdir(parents=True)
    return made


def drift(*arguments: str) -> Result:
    """Call the command."""
    return CliRunner().invoke(build_app("drift"), ["drift", "lab", *arguments])


def test_as_planned_is_zero(engine: Engine) -> None:
    """The stack is the site's; the preview looks at the hosts and writes nothing."""
    result = drift()
    assert result.exit_code == 0
    *asked, event_log, _file = engine.called
    assert asked == [
        *("pulumi", "preview", "--refresh", "--json", "--expect-no-changes", "--show-sames", "--non-interactive"),
        *("--stack", "lab"),
    ]
    assert event_log == "--event-log"


@pytest.mark.parametrize(("arguments", "code"), [((), 5), (("--detailed-exitcode",), 2)])
def test_drift_has_its_code(engine: Engine, arguments: tuple[str, ...], code: int) -> None:
    """Drift is 5, or 2 in Terraform's way; the text names host, planned and seen."""
    engine.said, engine.code = (HERE / "drifted.json").read_text(), 7
    result = drift(*arguments)
    assert result.exit_code == code
    assert "os-train h3 mtu.rail0: planned 9000, seen 1500" in result.stdout


def test_known_drift_of_the_site_is_read_from_its_folder(engine: Engine) -> None:
    """The entry makes the exit code clean, and the drift stays in the report."""
    engine.said, engine.code = (HERE / "drifted.json").read_text(), 7
    folder = Path("inventory/lab/drift")
    folder.mkdir()
    (folder / "ignore.yaml").write_text("- {thing: mtu.rail0, until: 9999-01-01, reason: ticket 7}\n")
    result = drift("--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["items"][0]["ignored_because"] == "ticket 7 (until 9999-01-01)"


def test_a_bad_file_of_known_drift_is_wrong_usage(engine: Engine) -> None:
    """Nothing is asked before the file is right."""
    folder = Path("inventory/lab/drift")
    folder.mkdir()
    (folder / "ignore.yaml").write_text("- {thing: mtu.rail0}\n")
    result = drift()
    assert (result.exit_code, engine.called) == (2, [])
    assert "a reason is missing" in result.stderr


def test_an_engine_that_fails_is_no_drift(engine: Engine) -> None:
    """A preview that says nothing is a failure with the engine's own words, never "as planned"."""
    engine.said, engine.code, engine.complaint = "", 6, "error: no stack named 'lab' found"
    result = drift()
    assert result.exit_code == 1
    assert "no stack named 'lab' found" in result.stdout
    assert "make up" in result.stdout


@pytest.mark.parametrize(("option", "start"), [("--markdown", "### Drift of lab"), ("--junit", "<?xml")])
def test_formats(engine: Engine, option: str, start: str) -> None:
    """Each format is an option."""
    engine.said, engine.code = (HERE / "silent.json").read_text(), 7
    assert drift(option).stdout.startswith(start)
