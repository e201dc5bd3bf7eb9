"""The planned site against the seen one: same, drifted, or could not tell."""

from __future__ import annotations

from coldaisle.drift.answers import Answer, CouldNotTell, Drifted, Same, compare
from coldaisle.drift.equality import Fact, same

__all__ = ["Answer", "CouldNotTell", "Drifted", "Fact", "Same", "compare", "same"]
