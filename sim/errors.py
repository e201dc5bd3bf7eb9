"""One kind of error for the whole simulation, so that the command line prints every failure in the same form."""

from __future__ import annotations

from coldaisle.told import ToldError


class SimError(ToldError):
    """A step that the simulation cannot take."""
