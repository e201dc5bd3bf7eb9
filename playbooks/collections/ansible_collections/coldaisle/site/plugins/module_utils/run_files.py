"""Writing text files, on the host."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.host import run as run_command
from ansible_collections.coldaisle.site.plugins.module_utils.record_facts import record, state_of, write_record
from ansible_collections.coldaisle.site.plugins.module_utils.services import ENABLED, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNITS = "/etc/systemd/system/"
"""The folder of the units that a role writes."""

PRIVATE = 0o077
"""A file that only its owner may read lies in a folder that only its owner may enter."""


def run(params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    """Write the files that differ, then tell who reads them."""
    before = {entry["path"]: _current(Path(entry["path"])) for entry in params["files"]}
    entries = [it for it in params["files"] if before[it["path"]] != (it["content"], int(it["mode"], 8), it["owner"])]
    diffs = [_diff(entry["path"], (before[entry["path"]] or ("",))[0], entry["content"]) for entry in entries]
    gone = _no_longer_planned(params)
    diffs += [_diff(path, (_current(Path(path)) or ("",))[0], "") for path in gone]
    known = [entry["reload"] for entry in entries] + [_told_of_end(_readers(params)[path]) for path in gone]
    readers = list(dict.fromkeys(reader for each in known for reader in each))
    paths = [*(entry["path"] for entry in entries), *gone]
    recorded = _is_recorded(params.get("record") or {})
    result = {"changed": bool(paths) or not recorded, "paths": paths, "reloaded": readers, "diff": diffs}
    try:
        for entry in () if check else entries:
            _write(Path(entry["path"]), entry)
        for path in () if check else gone:
            _remove(Path(path))
        if not check and params.get("record"):
            wanted = {it["path"]: it["reload"] for it in params["files"]}
            write_record(params["record"]["name"], params["record"]["digest"], wanted)
        if not check:
            _tell(readers)
    except FactError as error:
        return {**result, "failed": True, "msg": str(error)}
    return result


def _no_longer_planned(params: dict[str, Any]) -> list[str]:
    """
    Return the files that the role has written by its record, that the plan has no more, and that are still as written.

    A file that somebody has changed since is theirs, and stays.
    """
    if not params.get("record"):
        return []
    planned = {entry["path"] for entry in params["files"]}
    before = record(params["record"]["name"]).get("files", {})
    return sorted(
        path for path, state in before.items() if path not in planned and state and state_of(Path(path)) == state
    )


def _readers(params: dict[str, Any]) -> dict[str, list[str]]:
    """Return who reads each file of the record, and has to be told that it is gone."""
    kept = record(params["record"]["name"])
    return {path: kept.get("readers", {}).get(path, []) for path in kept["files"]}


def _told_of_end(readers: list[str]) -> list[str]:
    """Return who is told that a file is gone: systemd of a unit, which cannot be turned on any more."""
    return ["systemd" if reader.startswith(ENABLED) else reader for reader in readers]


def _remove(path: Path) -> None:
    if str(path).startswith(UNITS) and path.suffix in {".service", ".timer"}:
        run_command("systemctl", "disable", "--now", path.name, timeout_s=60)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise FactError(f"cannot remove {path}, which the plan has no more: {error.strerror}") from error


def _is_recorded(wanted: dict[str, str]) -> bool:
    """Tell whether the host's record of these files is the plan's; without one there is nothing to keep."""
    return not wanted or record(wanted["name"]).get("digest") == wanted["digest"]


def _tell(readers: list[str]) -> None:
    try:
        tell(readers)
    except FactError as error:
        raise FactError(f"the files are written, but {error}") from error


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
