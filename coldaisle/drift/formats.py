"""A report as text for people, JSON for programs, Markdown for a pull request, and JUnit for a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from coldaisle.drift.answers import CouldNotTell, Drifted
from coldaisle.drift.report import KINDS, Item, Kind, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

JSON_VERSION = "1"
MARKDOWN_LIMIT = 65_536
"""Characters that a comment on a pull request may have."""

_TITLES: dict[Kind, str] = {
    "drifted": "Drifted: the site has changed",
    "pending": "Pending: the plan has changed, or the last run did not finish",
    "could-not-tell": "Could not tell",
    "in-maintenance": "In maintenance: somebody works on it, so it does not count",
    "ignored": "Ignored",
}


def said(item: Item, as_of: str | None = None) -> str:
    """Return what there is to say of an item: planned and seen, or why that is not known, and how old that is."""
    answer = item.answer
    if isinstance(answer, Drifted):
        text = f"planned {_value(answer.planned)}, seen {_value(answer.seen)}" + (f" (as of {as_of})" if as_of else "")
    elif isinstance(answer, CouldNotTell):
        times = (f"since {answer.since}" if answer.since else "", f"last told {as_of}" if as_of else "")
        text = answer.why + (f" ({', '.join(filter(None, times))})" if any(times) else "")
    else:
        text = "as planned"
    text += f"; {item.left_alone}" if item.left_alone else ""
    return text + (f"; ignored: {item.ignored_because}" if item.ignored_because else "")


def _value(value: object) -> str:
    return "nothing" if value is None else str(value)


def as_text(report: Report) -> str:
    """Return the report for a terminal: a line an item, and the counts last."""
    lines = []
    for kind in KINDS:
        items = report.of_kind(kind)
        lines += [_TITLES[kind]] if items else []
        lines += _grouped(report, items)
    lines += [f"error: {error}" for error in report.errors]
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join([*lines, report.summary()])


def _grouped(report: Report, items: tuple[Item, ...]) -> list[str]:
    """Return a line an item; things of one host that all say the same (it is silent) share a line."""
    groups: dict[tuple[str, str | None, str], list[Item]] = {}
    for item in items:
        text = said(item, report.age_of(item)) + _mark(item)
        groups.setdefault((item.resource, item.host, text), []).append(item)
    return [
        f"  {' '.join(filter(None, (resource, host, ', '.join(item.thing for item in group))))}: {text}"
        for (resource, host, text), group in groups.items()
    ]


def _mark(item: Item) -> str:
    return f"  [{item.operation}]" if item.destroys else ""


def as_json(report: Report) -> dict[str, Any]:
    """Return the report as JSON: version, stack, counts, items, errors and notes."""
    return {
        "version": JSON_VERSION,
        "stack": report.stack,
        "taken_at": report.taken_at,
        "counts": report.counts(),
        "items": [_item_json(item) | {"as_of": report.age_of(item)} for item in report.items],
        "errors": list(report.errors),
        "notes": list(report.notes),
    }


def _item_json(item: Item) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": item.kind, "layer": item.layer, "resource": item.resource, "host": item.host}
    found |= {"thing": item.thing, "operation": item.operation}
    if isinstance(item.answer, Drifted):
        found |= {"planned": item.answer.planned, "seen": item.answer.seen}
    if isinstance(item.answer, CouldNotTell):
        found |= {"why": item.answer.why, "since": item.answer.since}
    found |= {"in_maintenance": item.left_alone} if item.left_alone else {}
    return found | ({"ignored_because": item.ignored_because} if item.ignored_because else {})


def as_markdown(report: Report) -> str:
    """Return the report for a pull request: deletions and replacements first, each kind folded, within the limit."""
    lines = [f"### Drift of {report.stack}", "", report.summary(), ""]
    lines += [f"- **error**: {_escaped(error)}" for error in report.errors]
    for kind in KINDS:
        lines += list(_folded(report, kind))
    lines += [f"- note: {_escaped(note)}" for note in report.notes]
    return _within("\n".join(lines) + "\n")


def _folded(report: Report, kind: Kind) -> Iterator[str]:
    items = report.of_kind(kind)
    if not items:
        return
    yield f"<details{' open' if any(item.destroys for item in items) else ''}>"
    yield f"<summary>{_TITLES[kind]} ({len(items)})</summary>\n"
    yield "| resource | host | thing | |"
    yield "|---|---|---|---|"
    for item in items:
        mark = f"**{item.operation}** " if item.destroys else ""
        cells = (item.resource, item.host or "", item.thing, said(item, report.age_of(item)))
        yield "| " + " | ".join(mark * (number == 0) + _escaped(cell) for number, cell in enumerate(cells)) + " |"
    yield "\n</details>\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _within(text: str) -> str:
    """Cut at a line's end where the text is too long, close what is open, and say so."""
    tail = "\n\n</details>\n\n… the rest does not fit here; see the JSON report.\n"
    if len(text) <= MARKDOWN_LIMIT:
        return text
    return text[: MARKDOWN_LIMIT - len(tail)].rsplit("\n", 1)[0] + tail


def as_junit(report: Report) -> str:
    """Return the report as JUnit XML: a failure is drift, an error is what could not be told."""
    counts = report.counts()
    suite = ET.Element("testsuite", name=f"drift {report.stack}", timestamp=report.taken_at)
    suite.set("failures", str(counts["drifted"] + counts["pending"]))
    suite.set("errors", str(counts["could-not-tell"] + len(report.errors)))
    suite.set("skipped", str(counts["ignored"] + counts["in-maintenance"]))
    touched = {item.resource for item in report.items}
    for resource in sorted(report.same.keys() - touched):
        ET.SubElement(suite, "testcase", classname="resource", name=resource)
    for item in report.items:
        case = ET.SubElement(suite, "testcase", classname=item.layer, name=item.name)
        ET.SubElement(case, _junit_tag(item), message=said(item, report.age_of(item)))
    for error in report.errors:
        ET.SubElement(ET.SubElement(suite, "testcase", classname="stack", name="preview"), "error", message=error)
    suite.set("tests", str(len(suite)))
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)


def _junit_tag(item: Item) -> str:
    return {"ignored": "skipped", "in-maintenance": "skipped", "could-not-tell": "error"}.get(item.kind, "failure")
