"""The reference of the plan's JSON is written from its records; `make accept` writes it anew."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import typing
from pathlib import Path

from coldaisle.plan import model

PLAN_JSON = Path(__file__).parents[2] / "docs" / "plan-json.md"
MARKER = "<!-- records: written by `make accept` from coldaisle/plan/model -->\n"


def records() -> str:
    """Return the reference of the plan's records, from the site downwards."""
    names: list[type] = []
    reach(model.SitePlan, names)
    return "".join(record(found) for found in names)


def reach(found: type, names: list[type]) -> None:
    """Add a record and those that it holds, each once, in the order in which a reader meets them."""
    names.append(found)
    for hint in typing.get_type_hints(found).values():
        for inner in records_in(hint):
            if inner not in names:
                reach(inner, names)


def records_in(hint: object) -> list[type]:
    """Return the records that a type names."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return [hint]
    return [inner for argument in typing.get_args(hint) for inner in records_in(argument)]


def record(found: type) -> str:
    """Return one record as Markdown: its docstring, and a table of its keys."""
    rows = "\n".join(f"| `{field.name}` | {kind(field.type)} |" for field in dataclasses.fields(found))
    return f"\n### {found.__name__}\n\n{inspect.getdoc(found)}\n\n| key | type |\n|---|---|\n{rows}\n"


def kind(annotation: object) -> str:
    """Return a type as JSON readers know it."""
    text = re.sub(r"tuple\[(.*), \.\.\.\]", r"list of \1", str(annotation))
    text = re.sub(r"Mapping\[str, (.*)\]", r"map to \1", text)
    text = re.sub(r"Literal\[(.*?)\]", lambda match: match[1].replace(", ", " or "), text)
    words = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false", "None": "null"}
    text = re.sub(r"\b(str|int|float|bool|None)\b", lambda match: words[match[1]], text)
    return text.replace(" | ", " or ").replace("|", "or")


def test_the_plans_json_is_documented() -> None:
    """docs/plan-json.md lists every record of the plan with its keys."""
    head, _, listed = PLAN_JSON.read_text(encoding="utf-8").partition(MARKER)
    if os.environ.get("COLDAISLE_ACCEPT"):
        PLAN_JSON.write_text(head + MARKER + records(), encoding="utf-8")
        return
    assert listed == records()
