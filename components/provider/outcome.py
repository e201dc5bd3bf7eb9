"""How a run ended for each of its hosts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coldaisle.paths import shown


@dataclass(frozen=True, slots=True)
class Failed:
    """A task failed on a host: which, why, and where to look."""

    task: str
    message: str
    look_at: str

    def reason(self, host: str) -> str:
        """Return the line that the user reads."""
        task = f" in task '{self.task}'" if self.task else ""
        look = f"; look at {self.look_at}" if self.look_at else ""
        return f"{host}: failed{task}: {self.message}{look}"


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A host did not answer; nothing is known about it."""

    message: str

    def reason(self, host: str) -> str:
        """Return the line that the user reads."""
        return f"{host}: unreachable: {self.message}; look at its power and its console, then run again"


@dataclass(frozen=True, slots=True)
class Stopped:
    """The run was stopped, by ^C or its time limit, before it had finished with the host."""

    message: str

    def reason(self, host: str) -> str:
        """Return the line that the user reads."""
        return f"{host}: {self.message}; the next run goes on from here"


@dataclass(frozen=True, slots=True)
class NotStarted:
    """A rollout has not come to the host: it is as it was before."""

    message: str

    def reason(self, host: str) -> str:
        """Return the line that the user reads."""
        return f"{host}: not started: {self.message}"


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A rollout has changed the host and taken that back."""

    message: str

    def reason(self, host: str) -> str:
        """Return the line that the user reads."""
        return f"{host}: rolled back: {self.message}"


@dataclass(frozen=True, slots=True)
class NotAccepted:
    """A host was tested and is not accepted, or could not be told about; `look_at` is its evidence."""

    message: str
    look_at: str = ""

    def reason(self, host: str) -> str:
        """Return the line that the user reads."""
        look = f"; look at {self.look_at}" if self.look_at else ""
        return f"{host}: not accepted: {self.message}{look}"


Trouble = Failed | Unreachable | Stopped | NotStarted | TakenBack | NotAccepted


@dataclass(slots=True)
class RunResult:
    """
    A run of a playbook.

    `trouble` has the hosts that did not finish; the others are done. `facts` and `errors` are filled by runs that read:
    by host, what was read, and by fact, why it could not be.
    """

    hosts: tuple[str, ...]
    trouble: dict[str, Trouble] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: dict[str, dict[str, str]] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)

    @property
    def done(self) -> list[str]:
        """Return the hosts that finished without trouble."""
        return [host for host in self.hosts if host not in self.trouble]


def _shown(where: str) -> str:
    """Return a task's `file:line` with the file as messages print it."""
    file, _, line = where.rpartition(":")
    return f"{shown(Path(file))}:{line}" if file else where


class Collector:
    """Builds the result of a run out of the worker's events."""

    def __init__(self, hosts: tuple[str, ...], timeout_s: int) -> None:
        """Start with no event seen."""
        self.result = RunResult(hosts)
        self.timeout_s = timeout_s
        self._last: dict[str, dict[str, Any]] = {}
        self._item: dict[str, str] = {}
        self._text: list[str] = []
        self._stats: dict[str, Any] | None = None

    def add(self, event: dict[str, Any]) -> None:
        """Take one event."""
        match event["kind"]:
            case "task":
                self._task(event)
            case "facts":
                self.result.facts.setdefault(event["host"], {}).update(event["facts"])
                self.result.errors.setdefault(event["host"], {}).update(event["errors"])
            case "stats":
                self._stats = event
            case "text":
                self._remember(event["text"])

    def _remember(self, text: str) -> None:
        """Keep what Ansible says outside of tasks: its first errors, or else its last lines."""
        errors = [line for line in self._text if "ERROR" in line]
        if "ERROR" in text or not errors:
            self._text = [*(errors or self._text[-3:]), text][:4]

    def _task(self, event: dict[str, Any]) -> None:
        host = event["host"]
        match event["state"]:
            case "item-failed":
                self._item[host] = event["message"]
            case "failed":
                text = self._item.pop(host, "") or event["message"]
                self.result.trouble[host] = Failed(event["task"], text, _shown(event["where"]))
            case "unreachable":
                self.result.trouble[host] = Unreachable(event["message"])
            case "changed":
                self.result.changed.add(host)
        self._last[host] = event

    def end(self, status: str, rc: int | None) -> RunResult:
        """Return the result, given how the whole run ended."""
        stats = self._stats
        if stats is None:
            self._without_stats(status, rc)
            return self.result
        failed, dark = set(stats["failed"]), set(stats["unreachable"])
        for host in self.result.hosts:
            if host not in stats["processed"]:
                self.result.trouble[host] = Failed(
                    "", "the playbook has no task for this host", "the play's 'hosts:' line"
                )
            elif host not in failed | dark:
                self.result.trouble.pop(host, None)  # it failed and was rescued
        return self.result

    def _without_stats(self, status: str, rc: int | None) -> None:
        """No summary: the run was stopped, or never came as far as a host."""
        for host in self.result.hosts:
            if host in self.result.trouble:
                continue
            if status == "canceled":
                self.result.trouble[host] = Stopped(f"stopped{self._during(host)}")
            elif status == "timeout":
                self.result.trouble[host] = Stopped(f"not finished after {self.timeout_s} s{self._during(host)}")
            else:
                self.result.trouble[host] = Failed("", self._why(status, rc), "the playbook and its variables")

    def _during(self, host: str) -> str:
        last = self._last.get(host)
        return f" in task '{last['task']}'" if last and last["task"] else " before its first task"

    def _why(self, status: str, rc: int | None) -> str:
        text = " ".join(" ".join(self._text).split())
        return f"the run ended before any host ({status}, exit code {rc})" + (f": {text}" if text else "")
