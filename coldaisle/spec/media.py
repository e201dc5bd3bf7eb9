"""What joins two ports: one cable with its plugs on, or a transceiver at each end and fibre between them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import model_validator

from coldaisle.spec.base import SpecModel, mistake, refers_to

CableKind = Literal["node-leaf", "leaf-spine", "spine-core", "oob"]
"""Between which tiers a cable runs; `oob` is every cable of a `single` fabric."""

OpticRef = Annotated[str, refers_to("optic")]


class LinkMedia(SpecModel):
    """
    What is ordered for the cables of one kind.

    `cable` alone has its plugs on. With `lower` and `upper` it is the fibre between these two transceivers: `lower` is
    the node's end, or that of the switch nearer to it. A cable that splits has its one plug at the upper end.
    """

    cable: Annotated[str, refers_to("cable")]
    lower: OpticRef | None = None
    upper: OpticRef | None = None

    @model_validator(mode="after")
    def _both_ends_or_none(self) -> Self:
        if (self.lower is None) != (self.upper is None):
            missing = "lower" if self.lower is None else "upper"
            what = f"there is a transceiver at one end only: {missing} is missing"
            raise mistake("missing-key", what, f"add {missing}, or name a cable with its plugs on alone")
        return self
