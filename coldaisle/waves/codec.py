"""Frozen records of a rollout as JSON data, and back: policies as stacks carry them, states as runs keep them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

Record = TypeVar("Record")


class Codec(Generic[Record]):
    """What makes JSON of records of one kind; it is built when it is first needed, which takes its time."""

    def __init__(self, kind: type[Record]) -> None:
        """Take the kind."""
        self._kind = kind

    @cached_property
    def _adapter(self) -> TypeAdapter[Record]:
        return TypeAdapter(self._kind)

    def to_json(self, record: Record) -> dict[str, Any]:
        """Return a record as plain JSON data."""
        found: dict[str, Any] = self._adapter.dump_python(record, mode="json")
        return found

    def from_json(self, data: Mapping[str, Any]) -> Record:
        """
        Return the record that JSON data holds.

        Raises:
            ValueError: it holds none (pydantic's ValidationError is one).

        """
        return self._adapter.validate_python(data)
