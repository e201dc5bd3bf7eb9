"""
Pydantic's errors in the words of people who write specs.

Each error becomes one `Problem` at the place where the value stands; an unknown key or value names its near miss.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from coldaisle.spec.base import near_miss
from coldaisle.spec.marks import Loc, Marks
from coldaisle.spec.problem import Problem

_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a map of names to values",
    "mapping_type": "a map of names to values",
    "model_type": "a map of keys to values",
    "model_attributes_type": "a map of keys to values",
}
_EXAMPLES = {
    "a whole number": "write a number without quotes and without a fraction",
    "a number": "write a number without quotes",
    "text": "put the value in quotes",
    "true or false": "write true or false, without quotes",
    "a list": "write the values as a list, each after a dash",
}
_BOUNDS = {"greater_than": ("gt", "more than"), "greater_than_equal": ("ge", "at least")} | {
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
_SHOWN_LENGTH = 80


def explain(error: ValidationError, root: Any, prefix: Loc, marks: Marks) -> Iterator[Problem]:  # noqa: ANN401 - a type
    """
    Yield a problem for each mistake that a validation found.

    Args:
        error: What pydantic raised.
        root: The type that was validated.
        prefix: Where that type stands in the spec, such as ("facility",).
        marks: Places of the values.
    """
    found: dict[Loc, list[ErrorDetails]] = {}
    for details in error.errors(include_url=False):
        found.setdefault(_real_loc(details, prefix, marks), []).append(details)
    meant = {_meant(loc, found) for loc, errors in found.items() if errors[0]["type"] == "extra_forbidden"}
    for loc, errors in found.items():
        if loc not in meant:
            yield from _problems(loc, errors, root, prefix, marks)


def _meant(loc: Loc, found: Mapping[Loc, list[ErrorDetails]]) -> Loc | None:
    """Return the missing key that an unknown key beside it stands for: one misspelt key is one mistake, not two."""
    missing = [other for other, errors in found.items() if other[:-1] == loc[:-1] and errors[0]["type"] == "missing"]
    close = get_close_matches(str(loc[-1]), [str(other[-1]) for other in missing], n=1)
    return (*loc[:-1], close[0]) if close else None


def _problems(loc: Loc, errors: list[ErrorDetails], root: Any, prefix: Loc, marks: Marks) -> Iterator[Problem]:  # noqa: ANN401
    wanted = [_TYPES[details["type"]] for details in errors if details["type"] in _TYPES]
    if len(errors) > 1 and len(wanted) == len(errors):
        yield _wrong_type(loc, " or ".join(dict.fromkeys(wanted)), errors[0]["input"], marks)
        return
    for details in errors:
        yield _problem(loc, details, model_keys(root, loc[len(prefix) : -1]), marks)


def _real_loc(details: ErrorDetails, prefix: Loc, marks: Marks) -> Loc:
    """Return the path of an error without the steps that pydantic adds for unions and for keys."""
    loc: Loc = (*prefix, *details["loc"])
    if details["type"] == "missing":
        return loc
    if loc and loc[-1] == "[key]":
        return loc[:-1]
    return marks.existing(loc)


def _problem(loc: Loc, details: ErrorDetails, known: list[str], marks: Marks) -> Problem:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "missing":
        return _missing(loc, marks)
    if kind == "extra_forbidden":
        return _unknown_key(loc, known, marks)
    if kind in _TYPES:
        return _wrong_type(loc, _TYPES[kind], details["input"], marks)
    if "fix" in context:
        have = str(context.get("have") or "")
        return _at(marks, loc, kind, str(context["what"]), have, str(context["fix"]))
    if kind == "literal_error":
        return _unknown_value(loc, str(context["expected"]), details["input"], marks)
    what, fix = _bad_value(kind, _label(loc), details)
    return _at(marks, loc, "bad-value", what, shown_value(details["input"]), fix)


def _at(marks: Marks, loc: Loc, check: str, what: str, have: str, fix: str, *, key: bool = False) -> Problem:  # noqa: PLR0913, PLR0917 - a problem's parts
    where = marks.where(loc, key=key)
    return Problem(check=check, where=where, path=marks.path(loc), what=what, have=have, fix=fix)


def _missing(loc: Loc, marks: Marks) -> Problem:
    what = f"the key {loc[-1]} is missing"
    return _at(marks, loc, "missing-key", what, "", f"add {loc[-1]}: …")


def _unknown_key(loc: Loc, known: list[str], marks: Marks) -> Problem:
    what, fix = f"there is no key {loc[-1]} here", near_miss(str(loc[-1]), known)
    return _at(marks, loc, "unknown-key", what, "", fix, key=True)


def _wrong_type(loc: Loc, wanted: str, value: Any, marks: Marks) -> Problem:  # noqa: ANN401
    have, fix = f"{shown_value(value)} ({_noun(value)})", _EXAMPLES.get(wanted, f"give {wanted}")
    return _at(marks, loc, "wrong-type", f"{_label(loc)} must be {wanted}", have, fix)


def _unknown_value(loc: Loc, expected: str, value: Any, marks: Marks) -> Problem:  # noqa: ANN401
    choices = [choice.strip("' ") for choice in expected.replace(" or ", ", ").split(", ")]
    what = f"{_label(loc)} cannot be {shown_value(value)}"
    return _at(marks, loc, "unknown-value", what, f"known: {', '.join(choices)}", near_miss(str(value), choices))


def _label(loc: Loc) -> str:
    """Return the name of a value: its key, and its place in a list."""
    return f"{_label(loc[:-1])}[{loc[-1]}]" if isinstance(loc[-1], int) else loc[-1]


def _bad_value(kind: str, name: str, details: ErrorDetails) -> tuple[str, str]:
    """Return what is wrong, and the fix."""
    context = details.get("ctx", {})
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return f"{name} must be {words} {context[bound]}", f"give a value of {words} {context[bound]}"
    if kind == "string_pattern_mismatch":
        return f"{name} has a form that is not allowed", f"it must match {context['pattern']}"
    if kind == "too_short":
        return f"{name} has too few entries", f"give at least {context['min_length']}"
    return details["msg"].removeprefix("Value error, "), "correct the value"


def _noun(value: Any) -> str:  # noqa: ANN401
    nouns = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "text",
        dict: "a map",
        list: "a list",
    }
    return "nothing" if value is None else nouns.get(type(value), type(value).__name__)


def shown_value(value: Any) -> str:  # noqa: ANN401
    """Return a value as a message shows it: on one line, and not longer than 80 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[: _SHOWN_LENGTH - 1]}…"


def model_keys(root: Any, loc: Iterable[str | int]) -> list[str]:  # noqa: ANN401
    """Return the keys that a spec may have at a path below a type."""
    candidates = _flat(root)
    for part in loc:
        candidates = [inner for candidate in candidates for inner in _step(candidate, part)]
    return sorted({key for model in candidates if _is_model(model) for key in model.model_fields})


def _is_model(candidate: Any) -> bool:  # noqa: ANN401
    return isinstance(candidate, type) and issubclass(candidate, BaseModel)


def _step(candidate: Any, part: str | int) -> list[Any]:  # noqa: ANN401
    if _is_model(candidate):
        field = candidate.model_fields.get(str(part))
        return _flat(field.annotation) if field else []
    arguments = get_args(candidate)
    return _flat(arguments[1] if len(arguments) > 1 and isinstance(part, str) else arguments[0]) if arguments else []


def _flat(annotation: Any) -> list[Any]:  # noqa: ANN401
    """Return the types that an annotation allows, without Annotated and unions."""
    if get_origin(annotation) is Annotated:
        return _flat(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [inner for choice in get_args(annotation) for inner in _flat(choice)]
    return [annotation]
