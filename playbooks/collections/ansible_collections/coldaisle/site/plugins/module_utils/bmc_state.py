"""
What the deploy host remembers of BMCs between runs: one small file a BMC and subject, written whole or not at all.

It lies below `$XDG_STATE_HOME/coldaisle/bmc-access` (`~/.local/state` without the variable). No password is in it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError

POLL_S = 0.1


def state_folder() -> Path:
    """Return the folder of the records; it is made where it is missing, for its owner only."""
    base = os.environ.get("XDG_STATE_HOME")
    folder = (Path(base) if base else Path.home() / ".local/state") / "coldaisle/bmc-access"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def record_path(subject: str, address: str) -> Path:
    """Return where the record of a subject (`ipmi`, `accounts`, `lease`) of one BMC lies."""
    return state_folder() / f"{_file_name(address)}.{subject}.json"


def cache_folder(subject: str, address: str) -> Path:
    """Return a folder for what a library keeps of one BMC; it is made where it is missing."""
    folder = state_folder() / f"{_file_name(address)}.{subject}"
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder


def _file_name(address: str) -> str:
    plain = address.partition("://")[2] or address
    return "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in plain)


def read_record(path: Path) -> dict[str, Any]:
    """Return a record, or an empty one where there is none or it is not ours."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Put a record in the place of the old one; a reader sees the one or the other, also after a power loss."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as opened:
        opened.write(json.dumps(record, indent=2, sort_keys=True) + "\n")
        opened.flush()
        os.fsync(opened.fileno())
    fresh.replace(path)


def change_record(path: Path, **values: Any) -> dict[str, Any]:  # noqa: ANN401  # what JSON holds
    """Change keys of a record and return it; those who change it at the same time lose nothing of each other."""
    with held([path.with_suffix(".lock")], timeout_s=30):
        record = read_record(path) | values
        write_record(path, record)
    return record


@contextlib.contextmanager
def held(places: list[Path], timeout_s: float) -> Iterator[int]:
    """
    Hold the first free one of some lock files, and give its number; a killed process holds none.

    Raises:
        BmcError: all were held by others for so long; the message has their process numbers.

    """
    deadline = time.monotonic() + timeout_s
    while True:
        for number, place in enumerate(places):
            lock = place.open("a+", encoding="utf-8")
            if _is_taken(lock.fileno()):
                lock.close()
                continue
            with lock:
                lock.truncate(0)
                lock.write(str(os.getpid()))
                lock.flush()
                yield number
            return
        if time.monotonic() >= deadline:
            raise _taken(places, timeout_s)
        time.sleep(POLL_S)


def _is_taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _taken(places: list[Path], timeout_s: float) -> BmcError:
    holders = ", ".join(place.read_text(encoding="utf-8") or "unknown" for place in places)
    return BmcError(
        "connections",
        f"no connection became free in {timeout_s:g} s; processes {holders} hold all {len(places)}",
        "those processes: they end by themselves, or hang",
    )
