"""Reading and changing a host: small helpers that say what is missing instead of raising whatever the system raised."""

from __future__ import annotations

import functools
import subprocess
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, TypeVar

    _Asked = ParamSpec("_Asked")
    _Answer = TypeVar("_Answer")

Value = str | int | bool

_FORGETTERS: list[Callable[[], None]] = []


def per_reading(function: Callable[_Asked, _Answer]) -> Callable[_Asked, _Answer]:
    """Keep what a function returns while facts are read: many facts come from one answer. `forget` ends it."""
    cached = functools.cache(function)
    _FORGETTERS.append(cached.cache_clear)
    return cached  # type: ignore[return-value]  # functools has no type of the arguments


def forget() -> None:
    """Let the next reading ask the host anew."""
    for forgetter in _FORGETTERS:
        forgetter()


class FactError(Exception):
    """A fact could not be read or set; the text says what was tried and what came back."""


class Fact:
    """
    How one kind of fact is read and, where a host can change it, set.

    `read` and `set` take the part of the fact's name after the first dot; `hint` says what to look at when the fact
    does not come true. `rule` names how planned and seen compare (module `rules`). `from_files` marks a fact that the
    files of an earlier task make true, `follows` one that other facts or a reboot do: there is nothing to set, and it
    is judged once the others are.
    A plain class: what dataclasses import costs a slow host half a second a task.
    """

    def __init__(  # noqa: PLR0913  # what one kind of fact is
        self,
        read: Callable[[str], Value],
        set_: Callable[[str, Value, Context], None] | None = None,
        hint: str = "",
        *,
        rule: str = "same",
        from_files: bool = False,
        follows: bool = False,
    ) -> None:
        """Keep the parts."""
        self.read, self.set, self.hint = read, set_, hint
        self.rule, self.from_files, self.follows = rule, from_files, follows


class Context:
    """What setting a fact needs beside its value: the ports of the host by name, each with its MAC address."""

    def __init__(self, links: dict[str, dict[str, Any]]) -> None:
        """Keep the ports."""
        self.links = links


def run(*argv: str, timeout_s: float = 20, mark: str = "") -> str:
    """
    Return the standard output of a command; the lines with `mark`, where it has some, tell why it failed.

    Raises:
        FactError: the command is missing, fails, or takes longer than `timeout_s` seconds.

    """
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout_s, check=False)
    except FileNotFoundError as error:
        raise FactError(f"{argv[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise FactError(f"{' '.join(argv)} gave no answer in {timeout_s:g} s") from error
    if done.returncode != 0:
        raise FactError(f"{' '.join(argv)} ended with {done.returncode}: {_reason(done, mark)}")
    return done.stdout


def _reason(done: subprocess.CompletedProcess[str], mark: str) -> str:
    """Return what a failed command says of itself: its marked lines, or else its last."""
    marked = [line.partition(mark)[2].strip(": ") for line in done.stdout.splitlines() if mark and mark in line]
    last = (done.stderr or done.stdout).strip().splitlines()[-1:]
    return ", ".join(filter(None, marked)) or "".join(last) or "no output"


def read_text(path: Path | str) -> str:
    """
    Return a small file's text without the white space around it.

    Raises:
        FactError: the file cannot be read.

    """
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise FactError(f"cannot read {path}: {error.strerror}") from error


def write_text(path: Path | str, text: str) -> None:
    """
    Write a kernel's file (sysfs, procfs).

    Raises:
        FactError: the kernel refuses the value, or the file is not there.

    """
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FactError(f"cannot write {text.strip()} to {path}: {error.strerror}") from error


def wait_until(true: Callable[[], bool], timeout_s: float, interval_s: float = 0.25) -> bool:
    """Return whether `true` became true within `timeout_s` seconds; what cannot be read yet is not true yet."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            if true():
                return True
        except FactError:
            pass
        if time.monotonic() > deadline:
            return False
        time.sleep(interval_s)
