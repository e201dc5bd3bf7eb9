"""
The record of the files that a role wrote, and whether they still are as it wrote them.

A role writes many files, and some are known to the deploy host only. The host therefore keeps a record of each set: the
plan's name of it, and the digest, mode and owner of each file, with who reads it. Reading compares the files with the
record, and the record's name with the plan's, so that one small fact says of a whole set whether it holds, and which
file does not.
"""

from __future__ import annotations

import hashlib
import json
import pwd
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import Fact, FactError, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECORDS = Path("/var/lib/coldaisle/files")


def state_of(path: Path) -> list[str] | None:
    """Return a file's digest (SHA-256), mode and owner; None where there is no file."""
    try:
        content, status = path.read_bytes(), path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        owner = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        owner = str(status.st_uid)
    return [hashlib.sha256(content).hexdigest(), f"{status.st_mode & 0o7777:04o}", owner]


def record(name: str) -> dict[str, Any]:
    """Return the record of a set; empty where none was written."""
    try:
        found: dict[str, Any] = json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise FactError(f"{RECORDS / name}.json is no record: {error}") from error
    return found


def write_record(name: str, digest: str, readers: dict[str, list[str]]) -> None:
    """
    Keep the record of a set that was just written; `readers` has who is told of a change, by each file's path.

    Raises:
        FactError: it cannot be written.

    """
    try:
        RECORDS.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FactError(f"cannot make {RECORDS}: {error.strerror}") from error
    files = {path: state_of(Path(path)) for path in readers}
    fresh = RECORDS / f".{name}.json"
    write_text(fresh, json.dumps({"digest": digest, "files": files, "readers": readers}, indent=1, sort_keys=True))
    fresh.replace(RECORDS / f"{name}.json")


def _read_files(name: str) -> str:
    found = record(name)
    if not found:
        return "never written"
    changed = sorted(path for path, before in found["files"].items() if state_of(Path(path)) != before)
    return f"changed: {', '.join(changed)}" if changed else str(found["digest"])


FACTS: dict[str, Fact] = {
    "files": Fact(_read_files, None, "who else writes these files, and the files themselves", from_files=True),
}
