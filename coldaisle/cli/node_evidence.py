"""The evidence that a node's steps rest on: what acceptance has kept, and the certificate of a wipe."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldaisle.acceptance.body import ACCEPTANCE, AFTER_STEP
from coldaisle.cli.bmc import refuse
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.evidence import EvidenceError, Statement, open_store
from coldaisle.plan import plan_hash

if TYPE_CHECKING:
    from coldaisle.cli.node_steps import Opened, Person
    from coldaisle.spec.journal import Step

WIPE = "wipe"


def accepted_by(known: Opened, file: str) -> dict[str, str]:
    """
    Return the name and the SHA-256 of a file of evidence.

    Where the site names keys, it must be a statement that they believe, of an acceptance that this node has passed
    since its last step.

    Raises:
        typer.Exit: it cannot be read (2), or it is no such statement (4).

    """
    try:
        digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError as error:
        refuse(f"{file} cannot be read: {error.strerror}", ExitCode.INVALID)
    if known.spec.site.evidence is not None:
        _require_accepted(known, Path(file))
    return {"file": Path(file).name, "sha256": digest}


def refused_by(known: Opened, file: str) -> Mapping[str, Any]:
    """
    Return the body of a statement that the site believes, of an acceptance which this node has failed.

    Raises:
        typer.Exit: the site names no keys (2), or the file is no such statement (4).

    """
    if known.spec.site.evidence is None:
        refuse("the site names no keys for its evidence (site.evidence), so none can be believed", ExitCode.INVALID)
    body = _acceptance(known, Path(file)).body
    if body.get("result") != "refused":
        what = f"{file} says that {known.node.name} was not refused: {body.get('result')}"
        refuse(f"{what}\n  fix:  say --why yourself", ExitCode.CHECK_FAILED)
    return body


def _acceptance(known: Opened, file: Path) -> Statement:
    """Return the statement of a file that is an acceptance of the node; the command ends with 4 where it is none."""
    node = known.node.name
    try:
        found = open_store(known.spec, signing=False).open(file)
    except EvidenceError as error:
        refuse(str(error), ExitCode.CHECK_FAILED)
    if found.kind != ACCEPTANCE or node not in found.subjects:
        what = f"{file} is of kind {found.kind} about {', '.join(found.subjects)}, not an acceptance of {node}"
        refuse(f"{what}{_fix(known)}", ExitCode.CHECK_FAILED)
    return found


def _fix(known: Opened) -> str:
    return f"\n  fix:  coldaisle accept {known.plan.name} --node {known.node.name}, and name the file that it keeps"


def _require_accepted(known: Opened, file: Path) -> None:
    node, fix = known.node.name, _fix(known)
    found = _acceptance(known, file)
    if found.body.get("result") != "accepted":
        refuse(f"{file} says that {node} was not accepted: {found.body.get('result')}{fix}", ExitCode.CHECK_FAILED)
    if known.last is not None and _is_older(found, known.last):
        what = f"{file} is of {found.when:%Y-%m-%dT%H:%M:%SZ}, before {known.last.text}"
        refuse(f"{what}{fix}", ExitCode.CHECK_FAILED)


def _is_older(found: Statement, last: Step) -> bool:
    """Tell whether a statement is from before a step: by the step that it names; one without, by the clocks' times."""
    after = found.body.get(AFTER_STEP)
    if isinstance(after, int):
        return after < last.step
    return found.when < datetime.fromisoformat(last.when)


def signed_wipe(known: Opened, person: Person, body: Mapping[str, Any]) -> dict[str, str]:
    """
    Keep the certificate of a wipe as a signed statement, and return its file's name; nothing without a key.

    Raises:
        EvidenceError: the key cannot be used, or nothing takes the statement.

    """
    if known.spec.site.evidence is None or not known.spec.site.evidence.signing_key_file:
        return {}
    statement = Statement(
        kind=WIPE,
        subjects=(known.node.name,),
        plan_hash=plan_hash(known.plan),
        who=person.who,
        when=datetime.now(UTC),
        body=body,
    )
    return {"statement": open_store(known.spec).keep(statement).name}
