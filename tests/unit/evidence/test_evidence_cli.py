"""`coldaisle evidence` on a site of one node."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from coldaisle.cli.app import build_app
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.evidence import Store, open_store
from coldaisle.spec import load_site
from tests.unit.evidence.test_evidence import SAID, write_key

ROOT = Path(__file__).parents[3]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Write a copy of a whole site that names a key for its evidence, and return its folder."""
    folder = Path(shutil.copytree(ROOT / "inventory/h100-pod", tmp_path / "site"))
    key = write_key(tmp_path / "evidence_key")
    with (folder / "site.yaml").open("a") as file:
        file.write(f"  evidence: {{signing_key_file: {key}}}\n")
    return folder


def run(*words: str) -> tuple[int, str]:
    """Run the command line and return its status and what it printed."""
    done = CliRunner().invoke(build_app("evidence"), ["evidence", *words])
    return done.exit_code, done.output


def store_of(site: Path) -> Store:
    """Return the site's store, ready to sign."""
    return open_store(load_site(site))


def test_evidence_lies_beside_the_spec(site: Path) -> None:
    """Where the spec names no folder; what cannot be kept there waits in the user's state."""
    store = store_of(site)
    assert store.folder == site / "evidence"
    assert store.waiting.name == "evidence-waiting"
    assert load_site(site).site.name in store.waiting.parts


def test_good_evidence_is_listed_shown_and_verified(site: Path) -> None:
    """All three commands find what was kept."""
    path = store_of(site).keep(SAID)
    assert run("verify", str(site)) == (ExitCode.CLEAN, f"{path}: good\n1 verified, 0 cannot be believed\n")
    status, text = run("list", str(site), "--json")
    assert status == ExitCode.CLEAN
    assert json.loads(text)["evidence"][0]["subjects"] == ["r01-n01"]
    status, text = run("show", str(site), "20261128T161535Z")
    assert json.loads(text)["predicate"]["body"] == SAID.body
    assert "r01-n01" in run("list", str(site))[1]
    assert run("list", str(site), "--subject", "r01-n02", "--json")[1].count("r01-n01") == 0


def test_a_changed_byte_is_told(site: Path) -> None:
    """All three commands end as a failed check, and nobody's traceback is printed."""
    path = store_of(site).keep(SAID)
    path.write_bytes(path.read_bytes().replace(b'"payload":"ey', b'"payload":"fy'))
    for words in (("verify", str(site)), ("list", str(site)), ("show", str(site), path.name)):
        assert run(*words)[0] == ExitCode.CHECK_FAILED, words
    assert "it was changed" in run("verify", str(site))[1]


def test_no_evidence_is_no_success(site: Path) -> None:
    """An empty store verifies nothing, and says so by its status."""
    assert run("verify", str(site))[0] == ExitCode.COULD_NOT_TELL


def test_a_site_without_a_key_is_told_what_to_write() -> None:
    """The place in the spec, and how a key is made."""
    status, text = run("verify", str(ROOT / "inventory/h100-pod"))
    assert status == ExitCode.INVALID
    assert "signing_key_file" in text
    assert "ssh-keygen" in text


def test_reading_needs_no_private_key(site: Path, tmp_path: Path) -> None:
    """An auditor has the public half only."""
    store_of(site).keep(SAID)
    (tmp_path / "evidence_key").unlink()
    assert run("verify", str(site))[0] == ExitCode.CLEAN
