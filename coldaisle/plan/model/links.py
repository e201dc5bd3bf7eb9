"""What cables, bonds and overlays share: one end of a cable."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a cable."""

    device: str
    port: str
