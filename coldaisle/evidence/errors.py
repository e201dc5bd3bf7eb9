"""What is wrong with a statement, a key or a store."""

from __future__ import annotations

from coldaisle.told import ToldError


class EvidenceError(ToldError):
    """Evidence that cannot be made, kept or believed."""
