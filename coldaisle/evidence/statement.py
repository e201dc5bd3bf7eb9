"""
One statement: what was found or done to which subjects, by whom, when, and under which plan.

Its JSON is an in-toto Statement v1. A subject's digest is the plan's hash: the statement is about that node *as that
plan has it*, so that evidence of an older plan is never taken for evidence of this one.

Source of the form: in-toto attestation framework, spec/v1/statement.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from coldaisle.evidence.errors import EvidenceError

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_PREFIX = "urn:coldaisle:evidence:"
_HASH = re.compile(r"[0-9a-f]{64}")
_KIND = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """
    A statement, not yet signed.

    `kind` is a word such as `acceptance` or `wipe`, `subjects` the names of nodes, racks or a site, `plan_hash` the
    SHA-256 that `coldaisle.plan.plan_hash` returns, `who` a person or a job, `when` an aware time (kept in UTC, whole
    seconds), and `body` plain data whose form the kind decides.
    """

    kind: str
    subjects: tuple[str, ...]
    plan_hash: str
    who: str
    when: datetime
    body: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Refuse what could not be read back: it would be signed, kept and then not believed."""
        if not _KIND.fullmatch(self.kind):
            raise ValueError(f"a kind is a word of lower-case letters, digits and dashes, not {self.kind!r}")
        if not self.subjects or len(set(self.subjects)) != len(self.subjects) or not all(self.subjects):
            raise ValueError(f"a statement names its subjects, each once, not {self.subjects!r}")
        if not _HASH.fullmatch(self.plan_hash):
            raise ValueError(f"a plan's hash is a SHA-256 in lower-case hexadecimal, not {self.plan_hash!r}")
        if self.when.tzinfo is None:
            raise ValueError("the time of a statement has a time zone")

    def payload(self) -> bytes:
        """Return the statement as canonical JSON: sorted keys, no spaces, UTF-8, no NaN."""
        return canonical(
            {
                "_type": STATEMENT_TYPE,
                "subject": [{"name": name, "digest": {"sha256": self.plan_hash}} for name in self.subjects],
                "predicateType": f"{PREDICATE_PREFIX}{self.kind}:v1",
                "predicate": {"who": self.who, "when": time_text(self.when), "body": dict(self.body)},
            }
        )


def canonical(value: object) -> bytes:
    """Return JSON that is the same bytes for the same data."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def time_text(when: datetime) -> str:
    """Return a time in UTC as RFC 3339, to the second: `2026-11-28T16:15:35Z`."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_statement(payload: bytes, where: str) -> Statement:
    """
    Return the statement of a payload. Its signature must have been verified before.

    Raises:
        EvidenceError: it is no statement of ours, or lacks a part.
    """
    try:
        return _statement(json.loads(payload))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        fix = "keep files of other tools elsewhere; a newer Coldaisle may read it"
        raise EvidenceError(where, "it is no statement that this version knows", str(error), fix) from None


def _statement(data: Mapping[str, Any]) -> Statement:
    if data["_type"] != STATEMENT_TYPE:
        raise ValueError(f"_type is {data['_type']!r}, not {STATEMENT_TYPE}")
    prefix, _, version = str(data["predicateType"]).rpartition(":")
    if version != "v1" or not prefix.startswith(PREDICATE_PREFIX):
        raise ValueError(f"predicateType is {data['predicateType']!r}")
    digests = {subject["digest"]["sha256"] for subject in data["subject"]}
    if len(digests) != 1:
        raise ValueError(f"its subjects name {len(digests)} plans, not one")
    predicate = data["predicate"]
    return Statement(
        kind=prefix.removeprefix(PREDICATE_PREFIX),
        subjects=tuple(subject["name"] for subject in data["subject"]),
        plan_hash=digests.pop(),
        who=predicate["who"],
        when=datetime.strptime(predicate["when"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC),
        body=predicate["body"],
    )
