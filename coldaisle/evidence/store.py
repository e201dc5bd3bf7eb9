"""
A folder of envelopes, one file a statement.

A file appears whole or not at all: it is written beside its place, flushed to the disk and then named. Its name ends
in the digest of what it holds, so that nothing is ever overwritten, and a file that was exchanged for another is
found. A folder that is full or cannot be written loses nothing: what was there stays, and the new envelope waits in a
second folder, on this machine, until the next statement is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from coldaisle.evidence.dsse import Trusted, sign, verify
from coldaisle.evidence.errors import EvidenceError
from coldaisle.evidence.keys import Signer
from coldaisle.evidence.statement import Statement
from coldaisle.files import write_whole

_DIGITS = 16
"""Digits of the digest in a file's name: 64 bits tell any number of statements apart."""
_SUFFIX = ".dsse.json"


@dataclass(frozen=True, slots=True)
class Kept:
    """One file of a store: its statement, or why it cannot be believed."""

    path: Path
    statement: Statement | None
    problem: EvidenceError | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """
    Where a site's evidence lies.

    `folder` is the site's own, `waiting` holds what `folder` could not take. `signer` signs what is kept; a store
    without one can only be read. `trusted` are the keys that are believed.
    """

    folder: Path
    waiting: Path
    trusted: Trusted
    signer: Signer | None = None

    def keep(self, statement: Statement) -> Path:
        """
        Sign a statement, keep it, and return its file; one that is kept already is left as it is.

        Raises:
            EvidenceError: there is no key to sign with, or neither folder takes it. What was kept before is untouched.
        """
        if self.signer is None:
            fix = "name a key in site.evidence.signing_key_file"
            raise EvidenceError(str(self.folder), "the store has no key to sign with", "", fix)
        envelope = sign(statement, self.signer)
        name = file_name(statement, envelope)
        try:
            path = write_once(self.folder / name, envelope)
        except OSError as error:
            return self._wait(name, envelope, error)
        self._bring_in()
        return path

    def _wait(self, name: str, envelope: bytes, why: OSError) -> Path:
        """Put an envelope into the second folder, since the first one did not take it."""
        try:
            return write_once(self.waiting / name, envelope)
        except OSError as error:
            have = f"{self.folder}: {why.strerror}; {self.waiting}: {error.strerror}"
            fix = "make room in one of the folders, and run the command again"
            raise EvidenceError(str(self.folder), "the evidence could not be kept", have, fix) from None

    def _bring_in(self) -> None:
        """Move what waited into the store; what does not fit yet waits on."""
        for path in _files(self.waiting):
            try:
                write_once(self.folder / path.name, path.read_bytes())
            except OSError:
                return
            path.unlink(missing_ok=True)

    def files(self) -> tuple[Path, ...]:
        """Return the files of both folders by name: by time, then by kind and subject. Unfinished ones are left out."""
        found = {path.name: path for folder in (self.waiting, self.folder) for path in _files(folder)}
        return tuple(found[name] for name in sorted(found))

    def read(self) -> Iterator[Kept]:
        """Yield every file with its statement, or with the reason why it cannot be believed."""
        yield from map(self._kept, self.files())

    def about(self, kind: str, subjects: Collection[str]) -> Iterator[Statement]:
        """
        Yield what can be believed of a kind whose first subject is one of some, by the times of the files' names.

        Files that are named for others are not opened: what they hold is not believed under another name.
        """
        asked = frozenset(subjects)
        names = {f"{kind}-{_in_name(subject)}" for subject in asked}
        for path in (path for path in self.files() if _named_for(path) in names):
            found = self._kept(path).statement
            if found is not None and found.kind == kind and found.subjects[0] in asked:
                yield found

    def _kept(self, path: Path) -> Kept:
        try:
            return Kept(path, self.open(path))
        except EvidenceError as error:
            return Kept(path, None, error)

    def open(self, path: Path) -> Statement:
        """Return the statement of one file. Raises EvidenceError when it cannot be believed."""
        try:
            envelope = path.read_bytes()
        except OSError as error:
            raise EvidenceError(str(path), "it cannot be read", error.strerror or "", "look at the file") from None
        statement = verify(envelope, self.trusted, str(path))
        if path.name != (name := file_name(statement, envelope)):
            fix = "look for the file that had this name: it was replaced, or this one was renamed"
            raise EvidenceError(str(path), "the name is not that of what the file holds", f"it would be {name}", fix)
        return statement


def file_name(statement: Statement, envelope: bytes) -> str:
    """Return a statement's file name: time, kind, first subject and how many more, digest of the envelope."""
    when = statement.when.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    more = f"+{len(statement.subjects) - 1}" if len(statement.subjects) > 1 else ""
    about = f"{statement.kind}-{_in_name(statement.subjects[0])}{more}"
    return f"{when}-{about}-{hashlib.sha256(envelope).hexdigest()[:_DIGITS]}{_SUFFIX}"


def _in_name(subject: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in subject[:63])


def _named_for(path: Path) -> str:
    """Return kind and first subject of a file's name."""
    return path.name.partition("-")[2].rpartition("-")[0].partition("+")[0]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(f"*{_SUFFIX}") if not path.name.startswith("."))


def write_once(path: Path, data: bytes) -> Path:
    """
    Write a file so that it is whole on the disk before it has its name, and return it. Raises OSError.

    A process that is killed leaves at most a hidden file, which no reader looks at.
    """
    if not path.exists():
        write_whole(path, data, sync=True)
    return path
