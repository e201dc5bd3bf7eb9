"""How findings name a tier's line of the spec and an end of a cable."""

from __future__ import annotations

from coldaisle.plan.model import End
from coldaisle.spec.marks import Loc


def tier_loc(fabric: str, role: str) -> Loc:
    """Return the path of a tier's switches in the spec."""
    return ("fabrics", fabric, "switch" if role == "oob" else role)


def end_name(end: End) -> str:
    """Return an end of a cable as messages name it: `leaf01 port swp1`."""
    return f"{end.device} port {end.port}"
