"""
From the engine's JSON preview after a refresh to a report.

The engine says what it would do to each resource, and which paths differ. What was planned stands in the new inputs,
what was seen in the old outputs; whether the plan or the site has moved shows in the inputs of the last `up`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from coldaisle.drift import reasons
from coldaisle.drift.answers import NOT_FACTS, Answer, CouldNotTell, Drifted
from coldaisle.drift.report import Item, Report

Step = Mapping[str, Any]

PLAY = "coldaisle:ansible:Play"
PRESENT, ABSENT = "present", "absent"
_QUIET = frozenset({"same", "refresh", "read", "read-discard"})
_PATH = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\.?([^.\[]+)')


def report_of(preview: Mapping[str, Any], stack: str, taken_at: str) -> Report:
    """
    Return the report of a `pulumi preview --refresh --json`.

    Args:
        preview: The parsed output.
        stack: Name of the stack.
        taken_at: When the preview was made, ISO 8601.

    """
    steps = list(preview.get("steps", []))
    applied = {step["urn"]: step for step in steps if step["op"] == "refresh"}
    items: list[Item] = []
    same: dict[str, int] = {}
    for step in steps:
        if step["op"] != "refresh" and _is_custom(step):
            found = list(_items(step, applied.get(step["urn"], step)))
            items += found
            same[_name(step["urn"])] = _planned_things(step) - len(found) if _planned_things(step) > len(found) else 0
    told = {(item.resource, item.host) for item in items}
    more, errors = _diagnostics(preview.get("diagnostics", []), told)
    return Report(stack=stack, taken_at=taken_at, items=(*items, *more), same=same, errors=tuple(errors))


def _is_custom(step: Step) -> bool:
    """Components are names for their children, and providers are no part of the site."""
    state = step.get("newState") or step.get("oldState") or {}
    return bool(state.get("custom")) and ":pulumi:providers:" not in step["urn"]


def _items(step: Step, applied: Step) -> Iterator[Item]:
    yield from _untold(step)
    if step["op"] in _QUIET:
        return
    differences = step.get("detailedDiff") or {}
    if step["op"] == "create" or step["op"].startswith("delete"):
        yield _whole(step, applied)
    for path, difference in differences.items():
        yield _difference(step, applied, path, difference)


def _whole(step: Step, applied: Step) -> Item:
    """A resource that comes or goes. One that the refresh missed was there at the last `up`: that is drift."""
    was_there = applied is not step
    answer = Drifted(PRESENT, ABSENT) if step["op"] == "create" else Drifted(ABSENT, PRESENT)
    pending = not was_there if step["op"] == "create" else True
    return _item(step, None, "the resource", answer, pending=pending)


def _difference(step: Step, applied: Step, path: str, difference: Mapping[str, Any]) -> Item:
    old, new = step.get("oldState") or {}, step.get("newState") or {}
    keys = split_path(path)
    planned = at(new.get("inputs"), keys)
    seen = at(old.get("inputs" if difference.get("inputDiff") else "outputs"), keys)
    pending = at((applied.get("oldState") or {}).get("inputs"), keys) != planned
    host, thing = (keys[1], " ".join(keys[2:]) or "the host") if _is_host(step, keys) else (None, path)
    if host and len(keys) == 2:  # noqa: PLR2004 - hosts and its name: the whole host
        planned, seen = _whole_host(planned, seen, asked_for=not pending)
        pending = True
    return _item(step, host, thing, Drifted(_short(planned), _short(seen)), pending=pending)


def _whole_host(planned: object, seen: object, *, asked_for: bool) -> tuple[str, str]:
    """A host that the plan has gained or lost, or that the last run was asked for and did not finish."""
    if planned is not None and asked_for:
        return "finished", "not finished"
    return PRESENT if planned is not None else ABSENT, PRESENT if seen is not None else ABSENT


def _is_host(step: Step, keys: list[str]) -> bool:
    return PLAY in step["urn"] and keys[0] == "hosts" and len(keys) > 1


def _untold(step: Step) -> Iterator[Item]:
    """What could not be told stays with the resource as the reasons why its last refresh or run was incomplete."""
    for line in (step.get("oldState") or {}).get("initErrors") or []:
        yield from _untold_line(step["urn"], line, step["op"])


def _untold_line(urn: str, line: str, operation: str) -> Iterator[Item]:
    untold = reasons.read(line)
    if untold is None:
        last_run = Drifted("finished", line)
        yield replace(_line_item(urn, None, "the last run", last_run, operation), pending=True)
        return
    for fact in untold.facts:
        yield _line_item(urn, untold.host, fact, CouldNotTell(untold.why, untold.since), operation)


def _diagnostics(
    entries: Iterable[Mapping[str, Any]], told: set[tuple[str, str | None]]
) -> tuple[list[Item], list[str]]:
    """Take what only the diagnostics say: hosts that did not answer (a warning), and failures."""
    items: list[Item] = []
    errors: list[str] = []
    for entry in entries:
        urn, text = entry.get("urn") or "", str(entry.get("message", "")).strip()
        if entry.get("severity") == "error":
            if urn and "pulumi:pulumi:Stack" not in urn:
                items.append(_line_item(urn, None, "the resource", CouldNotTell(text), "read"))
            else:
                errors.append(text)
            continue
        for line in text.splitlines():
            untold = reasons.read(line.removeprefix("* "))
            if untold and (_name(urn), untold.host) not in told:
                items += _untold_line(urn, line.removeprefix("* "), "read")
    return items, errors


def _item(step: Step, host: str | None, thing: str, answer: Drifted, *, pending: bool) -> Item:
    return Item(
        layer=_layer(step["urn"]),
        resource=_name(step["urn"]),
        host=host,
        thing=thing,
        answer=answer,
        operation=step["op"],
        pending=pending,
    )


def _line_item(urn: str, host: str | None, thing: str, answer: Answer, operation: str) -> Item:
    return Item(layer=_layer(urn), resource=_name(urn), host=host, thing=thing, answer=answer, operation=operation)


def _planned_things(step: Step) -> int:
    """Count what a resource plans: the facts of a play's hosts, or the one thing that another resource is."""
    state = step.get("newState") or step.get("oldState") or {}
    if PLAY not in step["urn"]:
        return 1
    hosts = (state.get("inputs") or {}).get("hosts", {})
    return sum(len(facts.keys() - NOT_FACTS) for facts in hosts.values())


def _layer(urn: str) -> str:
    kind = urn.split("::")[2].rsplit("$", maxsplit=1)[-1] if urn.count("::") > 1 else ""
    if kind == PLAY:
        return "hosts"
    return "cluster" if kind.startswith("kubernetes:") else "stack"


def _name(urn: str) -> str:
    return urn.rsplit("::", 1)[-1]


def split_path(path: str) -> list[str]:
    """Return the keys of a property path: `hosts["r01-n03"]["mtu.rail0"]` has three."""
    return [quoted or index or plain for quoted, index, plain in _PATH.findall(path)]


def at(value: Any, keys: list[str]) -> Any:  # noqa: ANN401 - JSON
    """Return what a JSON value has at a path; None where it has nothing there."""
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _short(value: Any) -> str | int | float | bool | None:  # noqa: ANN401 - JSON
    return value if isinstance(value, str | int | float | bool) or value is None else f"{str(value)[:80]}"
