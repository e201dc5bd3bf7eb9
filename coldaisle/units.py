"""
Units as numbers are written for people; one base unit a quantity (W, V, A, Gb/s, bytes, seconds, kelvin).

Names carry the unit (`max_power_w`), so values are plain numbers, and this module only writes them out.
"""

from __future__ import annotations

from collections.abc import Iterable

THIN_GAP = " "
SMALL_FLOW = 100


def grouped(value: float) -> str:
    """Return a number rounded to a whole one, in groups of three: 40800 gives `40 800`."""
    return f"{round(value):,}".replace(",", THIN_GAP)


def watts(value: float | None) -> str:
    """Return a power in watts, or `unknown`: 34501.6 gives `34 502 W`."""
    return "unknown" if value is None else f"{grouped(value)} W"


def kilowatts(value: float | None) -> str:
    """Return a power given in watts as kilowatts with one decimal: 34501.6 gives `34.5 kW`."""
    return "unknown" if value is None else f"{value / 1000:.1f} kW"


def flow(value: float | None) -> str:
    """Return a flow of air or coolant, small ones with a decimal: 1731.2 gives `1 731`, 4.26 gives `4.3`."""
    return "unknown" if value is None else f"{value:.1f}" if value < SMALL_FLOW else grouped(value)


def percent(part: float | None, whole: float) -> str:
    """Return how much of a whole a part is, in whole percent; `unknown` where either is not known."""
    return "unknown" if part is None or whole <= 0 else f"{100 * part / whole:.0f} %"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun: `1 rack`, `2 racks`."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def some_of(names: Iterable[str], most: int = 3) -> str:
    """Return names, sorted, with a count of those beyond the first few: `a, b, c and 4 more`."""
    listed = sorted(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
