"""Writing text files, on the host."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.record_facts import record, write_record
from ansible_collections.coldaisle.site.plugins.module_utils.services import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PRIVATE = 0o077
"""A file that only its owner may read lies in a folder that only its owner may enter."""


def run(params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    """Write the files that differ, then tell who reads them."""
    before = {entry["path"]: _current(Path(entry["path"])) for entry in params["files"]}
    entries = [it for it in params["files"] if before[it["path"]] != (it["content"], int(it["mode"], 8), it["owner"])]
    readers = list(dict.fromkeys(reader for entry in entries for reader in entry["reload"]))
    diffs = [_diff(entry["path"], (before[entry["path"]] or ("",))[0], entry["content"]) for entry in entries]
    paths = [entry["path"] for entry in entries]
    recorded = _is_recorded(params.get("record") or {})
    result = {"changed": bool(entries) or not recorded, "paths": paths, "reloaded": readers, "diff": diffs}
    try:
        for entry in () if check else entries:
            _write(Path(entry["path"]), entry)
        if not check and params.get("record"):
            write_record(params["record"]["name"], params["record"]["digest"], [it["path"] for it in params["files"]])
        for reader in () if check else readers:
            _tell(reader)
    except FactError as error:
        return {**result, "failed": True, "msg": str(error)}
    return result


def _is_recorded(wanted: dict[str, str]) -> bool:
    """Tell whether the host's record of these files is the plan's; without one there is nothing to keep."""
    return not wanted or record(wanted["name"]).get("digest") == wanted["digest"]


def _tell(reader: str) -> None:
    try:
        tell(reader)
    except FactError as error:
        raise FactError(f"the files are written, but {reader} did not take them: {error}") from error


def _current(path: Path) -> tuple[str, int, str] | None:
    """Return a file's content, mode and owner, or None where there is none."""
    try:
        content = path.read_bytes().decode("utf-8", errors="replace")
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        owner = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        owner = str(status.st_uid)
    return content, status.st_mode & 0o7777, owner


def _diff(path: str, before: str, after: str) -> dict[str, str]:
    return {"before_header": path, "after_header": path, "before": before, "after": after}


def _write(path: Path, entry: dict[str, Any]) -> None:
    """Put the new file beside the old one and move it over, so that a reader never sees half a file."""
    mode = int(entry["mode"], 8)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.coldaisle")  # two runs may meet on a host
    try:
        _make_folder(path.parent, entry["owner"], private=not mode & PRIVATE)
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(entry["content"].encode())
        fresh.chmod(mode)
        shutil.chown(fresh, entry["owner"])
        fresh.replace(path)
    except (OSError, LookupError) as error:
        raise FactError(f"cannot write {path}: {error}") from error


def _make_folder(folder: Path, owner: str, *, private: bool) -> None:
    if folder.is_dir():
        return
    folder.mkdir(parents=True)
    if private:
        folder.chmod(0o700)
        shutil.chown(folder, owner)
