"""
A spec while it is being written: values with the sources that they are from, and gaps where no source has one.

A gap says where to look and what to write. A spec with gaps is written without them, each as a comment in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coldaisle.adopt.merge import Known

Loc = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """A value with a comment that says where it is from; `flow` writes a map or a list on one line."""

    value: Any
    note: str = ""
    flow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """
    A value that no source has.

    `what` is in words, `look` where it can be found, and `write` what to put there. A spec cannot be used without a
    `required` one. `stand_in` is what takes its place while the rest of a new spec is compared with the sources; it is
    written nowhere.
    """

    what: str
    look: str
    write: str
    required: bool = False
    stand_in: Any = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A gap with its place in the spec."""

    loc: Loc
    gap: Gap

    @property
    def path(self) -> str:
        """Return the place as problems of a spec write it."""
        text = ""
        for part in self.loc:
            text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
        return text

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        gap = self.gap
        return {"path": self.path, "what": gap.what, "look": gap.look, "write": gap.write, "required": gap.required}


def said(known: Known | None) -> Any:  # noqa: ANN401 - a value, or None
    """Return a value with its sources, None where nobody has it."""
    if known is None:
        return None
    value = list(known.value) if isinstance(known.value, tuple) else known.value
    return Told(value, note_of(known))


def note_of(known: Known) -> str:
    """Name the sources of a value."""
    return ", ".join(known.sources)


def derived(value: Any, why: str) -> Told:  # noqa: ANN401 - any value of a spec
    """Return a value that follows from what sources say, with how."""
    return Told(value, f"follows from {why}")


def cleaned(data: dict[str, Any]) -> dict[str, Any]:
    """Return a map without the keys that have nothing."""
    return {key: value for key, value in data.items() if value is not None}


def plain(data: Any, *, stand_ins: bool = False) -> Any:  # noqa: ANN401 - a spec in part
    """Return plain data: without gaps, or with what stands in for those that a spec needs."""
    if isinstance(data, Told):
        return plain(data.value, stand_ins=stand_ins)
    if isinstance(data, dict):
        items = ((key, _filled(value, stand_ins=stand_ins)) for key, value in data.items())
        return {key: plain(value, stand_ins=stand_ins) for key, value in items if value is not None}
    if isinstance(data, list | tuple):
        return [plain(each, stand_ins=stand_ins) for each in data if not isinstance(each, Gap)]
    return data


def _filled(value: Any, *, stand_ins: bool) -> Any:  # noqa: ANN401
    if not isinstance(value, Gap):
        return value
    return value.stand_in if stand_ins else None


def unknowns(data: Any, loc: Loc = ()) -> Iterator[Unknown]:  # noqa: ANN401
    """Yield every gap of a spec, in the order in which it is written."""
    if isinstance(data, Gap):
        yield Unknown(loc, data)
    elif isinstance(data, Told):
        yield from unknowns(data.value, loc)
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from unknowns(value, (*loc, key))
    elif isinstance(data, list | tuple):
        for number, value in enumerate(data):
            yield from unknowns(value, (*loc, number))
