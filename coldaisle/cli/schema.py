"""`coldaisle schema`: the JSON Schema of a site's spec, for editors."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from coldaisle.cli.output import print_json


def schema() -> None:
    """
    Print the JSON Schema of a site's spec.

    It is made from the models that load a spec. An editor with it completes keys and marks mistakes while you write.
    Save it, and name it at the top of a file:

        coldaisle schema > inventory/schema.json

        # yaml-language-server: $schema=../schema.json
    """
    print_json(site_schema())


def site_schema() -> dict[str, Any]:
    """Return the JSON Schema of one spec file: any of the sections, with what the models' docstrings say."""
    from coldaisle.spec.catalog import Catalog  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.spec.sections import Sections  # noqa: PLC0415

    found = Sections.model_json_schema()
    catalog = Catalog.model_json_schema(ref_template="#/$defs/{model}")
    found["$defs"] |= catalog.pop("$defs") | {"Catalog": catalog}
    found["properties"]["catalog"] = {"$ref": "#/$defs/Catalog"}
    found.pop("required")
    _describe(found["$defs"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "title": "A site of Coldaisle"}


def _describe(definitions: dict[str, Any]) -> None:
    """Add what stands under each field of a model to the field's definition."""
    from coldaisle.spec.base import SpecModel  # noqa: PLC0415

    for model in _subclasses(SpecModel):
        properties = definitions.get(model.__name__, {}).get("properties", {})
        for field, text in _field_docs(model).items():
            if field in properties:
                properties[field].setdefault("description", text)


def _subclasses(parent: type) -> Iterator[type]:
    children: list[type] = parent.__subclasses__()
    for child in children:
        yield child
        yield from _subclasses(child)


def _field_docs(model: type) -> dict[str, str]:
    """Return the docstring under each field. Read here and not by pydantic, which would read sources at every start."""
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    statements = body.body if isinstance(body, ast.ClassDef) else []
    pairs = ((_field_name(field), _docstring(text)) for field, text in pairwise(statements))
    return {name: text for name, text in pairs if name and text}


def _field_name(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    return None


def _docstring(statement: ast.stmt) -> str | None:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return inspect.cleandoc(value.value) if isinstance(value, ast.Constant) and isinstance(value.value, str) else None
