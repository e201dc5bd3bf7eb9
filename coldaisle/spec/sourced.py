"""What every entry of the catalog shares: its numbers say where they come from."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from coldaisle.spec.base import SpecModel, mistake

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0, le=10_000)]
"""How many of something a device or a site has."""
RackUnits = Annotated[int, Field(gt=0, le=100)]
"""Height of a device or of a rack."""
Bytes = Annotated[int, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Sourced(SpecModel):
    """
    A catalog entry whose numbers say where they come from.

    `source` is one document for every number of the entry, or a map of field name to document, in which `*` stands
    for the fields that are not named.
    """

    source: str | dict[str, str]

    @model_validator(mode="after")
    def _every_number_has_a_source(self) -> Self:
        if isinstance(self.source, str):
            return self
        facts = self.model_fields_set - {"source"}
        missing = sorted(name for name in facts if self._is_figure(name) and self.source_of(name) is None)
        if missing:
            raise mistake(
                "no-source", f"no source for {', '.join(missing)}", "name the document, or leave the figure out"
            )
        return self

    def _is_figure(self, name: str) -> bool:
        return not isinstance(getattr(self, name), str | None)

    def source_of(self, name: str) -> str | None:
        """Return the document that gives a field, or None when none is named."""
        if isinstance(self.source, str):
            return self.source
        return self.source.get(name, self.source.get("*"))
