"""The planned site against the seen one: same, drifted, or could not tell."""

from __future__ import annotations

from coldaisle.drift.answers import Answer, CouldNotTell, Drifted, Same, compare
from coldaisle.drift.equality import Fact, same
from coldaisle.drift.preview import report_of
from coldaisle.drift.report import Item, Report

__all__ = ["Answer", "CouldNotTell", "Drifted", "Fact", "Item", "Report", "Same", "compare", "report_of", "same"]
