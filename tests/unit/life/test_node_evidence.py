"""The evidence that steps of a node rest on: believed, of this node, passed, and not of yesterday."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typer
import yaml

from coldaisle.cli.node_evidence import accepted_by, signed_wipe
from coldaisle.cli.node_repair import repair_node
from coldaisle.cli.node_steps import Opened, Person, opened
from coldaisle.evidence import Statement, open_store
from coldaisle.plan import plan_hash
from tests.unit.life.sites import ALICE, NOON, move

NODE, OTHER = "r01-n01", "r01-n02"
AFTER = NOON + timedelta(hours=1)


@pytest.fixture
def known(site: Path, tmp_path: Path) -> Opened:
    """Return a node in repair since noon, of a site with a key for its evidence."""
    key = tmp_path / "evidence_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    for file in site.glob("*.yaml"):
        sections = yaml.safe_load(file.read_text())
        if "site" in (sections or {}):
            sections["site"]["evidence"] = {"signing_key_file": str(key), "folder": str(tmp_path / "evidence")}
            file.write_text(yaml.safe_dump(sections))
    move(site, NODE, "repair")
    return opened(str(site), NODE)


def kept(known: Opened, **changes: object) -> str:
    """Keep an acceptance of the node, with some of it changed, and return its file."""
    good = Statement(
        kind="acceptance",
        subjects=(NODE,),
        plan_hash=plan_hash(known.plan),
        who=ALICE,
        when=AFTER,
        body={"result": "accepted"},
    )
    return str(open_store(known.spec).keep(replace(good, **changes)))  # type: ignore[arg-type]


def test_an_acceptance_that_was_passed_since_is_taken(known: Opened) -> None:
    """Its file is found again by its SHA-256."""
    file = kept(known)
    found = accepted_by(known, file)
    assert found["file"] == Path(file).name
    assert len(found["sha256"]) == 64


def test_a_clock_that_was_set_makes_no_acceptance_older_or_newer(known: Opened) -> None:
    """The step that it names decides: its time may be a day before the step's, or a day after it."""
    assert known.last is not None
    body = {"result": "accepted", "after_step": known.last.step}
    assert accepted_by(known, kept(known, body=body, when=NOON - timedelta(days=1)))
    with pytest.raises(typer.Exit):
        accepted_by(known, kept(known, body={**body, "after_step": known.last.step - 1}))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"subjects": (OTHER,)}, f"about {OTHER}, not an acceptance of {NODE}"),
        ({"kind": "wipe"}, "is of kind wipe"),
        ({"body": {"result": "refused"}}, "was not accepted: refused"),
        ({"when": NOON - timedelta(days=1)}, "before r01-n01 is in repair since"),
    ],
)
def test_what_is_no_such_acceptance_is_refused(
    known: Opened, changes: dict[str, object], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another node's, another kind, not passed, or from before the repair: each is said, with what to do."""
    with pytest.raises(typer.Exit) as caught:
        accepted_by(known, kept(known, **changes))
    printed = capsys.readouterr().err
    assert (caught.value.exit_code, said in printed) == (4, True), printed
    assert "fix:  coldaisle accept" in printed


def test_a_changed_byte_is_refused(known: Opened, capsys: pytest.CaptureFixture[str]) -> None:
    """A statement that the site's keys do not believe is no evidence."""
    file = Path(kept(known))
    file.write_text(file.read_text().replace('"signatures"', '"signaturez"'))
    with pytest.raises(typer.Exit) as caught:
        accepted_by(known, str(file))
    assert caught.value.exit_code == 4
    assert str(file) in capsys.readouterr().err


def test_the_certificate_of_a_wipe_is_signed(known: Opened) -> None:
    """It is kept as a statement about the node, and its body is the certificate's."""
    name = signed_wipe(known, Person(ALICE, "leaves"), {"disks": [{"serial": "S1"}]})["statement"]
    [found] = [each for each in open_store(known.spec, signing=False).read() if each.path.name == name]
    assert found.statement is not None
    assert (found.statement.kind, found.statement.subjects) == ("wipe", (NODE,))
    assert found.statement.body == {"disks": [{"serial": "S1"}]}
    assert found.statement.when > datetime(2026, 1, 1, tzinfo=UTC)


REFUSED = {
    "result": "refused",
    "event": "repair",
    "failures_in_a_row": 3,
    "phase": "full",
    "reasons": [
        {"test": "gpu-state", "what": "nvidia-smi sees 7 of 8 GPUs", "part": {"text": "r01-n01 GPU 3, slot 58:00.0"}},
        {"test": "dcgm", "what": "GPU 3 does not answer", "part": {"text": "r01-n01 GPU 3, slot 58:00.0"}},
        {"test": "neighbours", "what": "nobody is heard behind rail0", "part": None},
    ],
}
TICKET = """\
r01-n01, rack r01, unit {unit}: refused by acceptance (full), 3 times in a row
- r01-n01 GPU 3, slot 58:00.0: nvidia-smi sees 7 of 8 GPUs (gpu-state); GPU 3 does not answer (dcgm)
- no part is named: nobody is heard behind rail0 (neighbours)
evidence: {file}"""


def test_a_node_that_failed_three_times_goes_to_repair_with_a_ticket(known: Opened) -> None:
    """The evidence says why, part by part; ticket and reason stand in the journal, and the drain does not lose them."""
    file = kept(known, body=REFUSED)
    last = repair_node(known, Person(ALICE, ""), file, None)
    assert last.state == "repair"
    assert last.why == "acceptance failed 3 times in a row: r01-n01 GPU 3, slot 58:00.0"
    assert last.details["ticket"] == TICKET.format(unit=known.node.rack_unit, file=Path(file).name)


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"body": {"result": "accepted"}}, 4, "was not refused: accepted"),
        ({"body": REFUSED, "subjects": (OTHER,)}, 4, f"about {OTHER}, not an acceptance of {NODE}"),
        (None, 2, "why? Say it with --why"),
    ],
    ids=["passed", "another's", "nothing"],
)
def test_a_ticket_needs_a_refusal_of_this_node(
    known: Opened, changes: dict[str, object] | None, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody goes to repair by a statement that passed it, or that is about another node; nor without a reason."""
    with pytest.raises(typer.Exit) as caught:
        repair_node(known, Person(ALICE, ""), kept(known, **changes) if changes else None, None)
    printed = capsys.readouterr().err
    assert (caught.value.exit_code, said in printed) == (code, True), printed
