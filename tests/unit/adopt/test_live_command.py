"""`coldaisle adopt --live`: the file of sources with its mistakes, what is kept of the answers, and how it ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from tests.unit.adopt.adopting import SITES, exported
from tests.unit.adopt.netbox_server import TOKEN, served
from tests.unit.adopt.test_command import contents, run

NOBODY = "127.0.0.1:9"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a new site's folder with the catalog of its hardware; the state of locks is the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    new = tmp_path / "new"
    new.mkdir()
    shutil.copy(SITES / "sim" / "catalog.yaml", new)
    return new


def file_of(folder: Path, **sources: object) -> str:
    """Write a file of live sources, and return its path."""
    path = folder.with_name("sources.yaml")
    path.write_text(yaml.safe_dump(sources), encoding="utf-8")
    return str(path)


def test_what_was_kept_reads_as_what_was_asked(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run asks nobody and ends in the same JSON; the token is in nothing that was written or printed."""
    monkeypatch.setenv("NETBOX", TOKEN)
    with served(exported("sim", "netbox")) as (url, shelf):
        file = file_of(folder, netbox=[{"url": url, "token": "env:NETBOX", "page": 50}])
        live = run(str(folder), "--live", file, "--keep", str(tmp_path / "kept"), "--json")
        asked = len(shelf.asked)
        other = folder.with_name("other")
        other.mkdir()
        shutil.copy(folder / "catalog.yaml", other)
        again = run(str(other), f"--from=netbox={tmp_path / 'kept' / 'netbox'}", "--json")
        assert len(shelf.asked) == asked
    assert live.exit_code == 3, live.output
    told = json.loads(live.stdout)
    assert told["counts"]["nodes"] == 4
    assert json.loads(again.stdout) == {**told, "folder": str(other)}
    texts = live.output + again.output + "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert TOKEN not in texts
    assert told["written"]


def test_bmcs_that_do_not_answer_are_named_and_still_named_when_read_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 3; what is kept says who was silent, so that the same gap is told without asking."""
    monkeypatch.setenv("B_USERNAME", "admin")
    monkeypatch.setenv("B_PASSWORD", "correct-horse")
    source = {"addresses": ["127.0.0.1"], "credentials": "env:B", "timeout_s": 0.2}
    monkeypatch.setattr("ansible_collections.coldaisle.site.plugins.module_utils.bmc.RETRY_S", 0.001)
    live = run(str(folder), "--live", file_of(folder, redfish=[source]), "--keep", str(tmp_path / "kept"), "--json")
    assert live.exit_code == 3, live.output
    [first, *_] = json.loads(live.stdout)["unknown"]
    assert (first["path"], first["required"]) == ("redfish.127.0.0.1", True)
    other = folder.with_name("other")
    shutil.copytree(SITES / "sim", other)
    again = run(str(other), f"--from=redfish={tmp_path / 'kept' / 'redfish'}", "--json")
    assert json.loads(again.stdout)["unknown"][0] == first
    assert again.exit_code == 3


def test_mistakes_of_the_file_are_told_at_once_and_nobody_is_asked(folder: Path) -> None:
    """A password in the file, a key that nobody knows and a missing one are named by their places."""
    before = contents(folder)
    bmcs = [{"addresses": ["10.0.0.1"], "credentials": "admin:secret"}, {"addresses": ["10.0.0.2"]}]
    done = run(str(folder), "--live", file_of(folder, redfish=bmcs, netbok=[]))
    assert done.exit_code == 2
    for place in ("redfish[0].credentials", "redfish[1].credentials", "netbok"):
        assert f"  {place}  [adopt-unreadable]" in done.output
    assert "admin:secret" not in done.output
    assert contents(folder) == before


def test_secrets_and_addresses_that_are_not_there_are_told_at_once(folder: Path) -> None:
    """Nothing is asked before every secret was found."""
    sources = {
        "redfish": [{"addresses": ["10.0.0.9-10.0.0.1"], "credentials": "env:NOWHERE"}],
        "netbox": [{"url": f"http://{NOBODY}", "token": "file:/nowhere/token"}],
    }
    done = run(str(folder), "--live", file_of(folder, **sources))
    assert done.exit_code == 2
    assert "NOWHERE_USERNAME is not set" in done.output
    assert "file:/nowhere/token: No such file" in done.output
    assert "asking" not in done.output


def test_without_a_source_nothing_is_done(folder: Path) -> None:
    """The command says what to give."""
    done = run(str(folder))
    assert done.exit_code == 2
    assert "give --live FILE, or --from SOURCE=PATH" in done.output
