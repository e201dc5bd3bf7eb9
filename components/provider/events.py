"""
From ansible-runner's events to ours: what happened, on which host, in which task, and nothing else.

A result may hold anything that a module was given or has printed, so only what is named here goes on: the task, its
state, a short message of a failure, and, when facts are read, the facts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_LIMIT_BYTES = 64 * 1024 * 1024
"""Length of a line that one process tells another: an event, or an answer."""

MESSAGE_LIMIT = 600
"""Characters of a failure's message that are kept: enough for the cause, too few for a dump."""

_STATES = {
    "runner_on_ok": "ok",
    "runner_on_failed": "failed",
    "runner_on_unreachable": "unreachable",
    "runner_item_on_failed": "item-failed",
    "runner_on_start": "start",
}

_SECRET = re.compile(r"(?i)\b(pass(?:word|wd)?|token|secret|api[-_]?key|authorization)(\"?\s*[:=]\s*)(\S+)")


def tell(event: dict[str, Any], *, collect_facts: bool) -> Iterator[dict[str, Any]]:
    """Yield what an event of ansible-runner says, in our form; most say nothing that is needed."""
    kind, data = event.get("event"), event.get("event_data") or {}
    if kind == "playbook_on_stats":
        yield {"kind": "stats", "failed": sorted(_failed(data)), "unreachable": sorted(data.get("dark", {}))} | {
            "processed": sorted(data.get("processed", {}))
        }
    elif kind in _STATES and data.get("host"):
        yield _task(_STATES[kind], data)
        result = data.get("res") or {}
        if collect_facts and isinstance(result.get("facts"), dict):
            yield {
                "kind": "facts",
                "host": data["host"],
                "facts": result["facts"],
                "errors": result.get("errors") or {},
            }
    elif kind in {"error", "warning", "verbose"} and event.get("stdout"):
        yield {"kind": "text", "text": hide(event["stdout"])[:MESSAGE_LIMIT]}


def _failed(data: dict[str, Any]) -> set[str]:
    return {host for host, count in data.get("failures", {}).items() if count}


def _task(state: str, data: dict[str, Any]) -> dict[str, Any]:
    result = data.get("res") or {}
    if state == "ok" and result.get("changed"):
        state = "changed"
    bad = state in {"failed", "item-failed", "unreachable"}
    return {
        "kind": "task",
        "host": data["host"],
        "task": data.get("task") or "",
        "state": "ignored" if state == "failed" and data.get("ignore_errors") else state,
        "message": message(result) if bad else "",
        "where": (data.get("task_path") or "") if bad else "",
    }


def message(result: dict[str, Any]) -> str:
    """Return the shortest thing that says why a task failed."""
    if result.get("censored"):
        return "the result is hidden, since the task handles a secret"
    parts = [str(result[key]).strip() for key in ("msg", "stderr", "module_stderr") if result.get(key)]
    if "rc" in result and result["rc"] not in (0, None):
        parts.append(f"exit code {result['rc']}")
    return hide("; ".join(dict.fromkeys(parts)))[:MESSAGE_LIMIT] or "the task failed without a message"


def hide(text: str) -> str:
    """Cover what looks like a secret's value. A second line of defence: the tasks have `no_log`."""
    return _SECRET.sub(r"\1\2***", text)
