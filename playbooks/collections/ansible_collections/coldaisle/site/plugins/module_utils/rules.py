"""
How a seen value fits a planned one: the rules that facts name.

`coldaisle.drift.equality` has the same rules for the drift report, which no host has; a test holds the two together.
Standard library only: this runs on the hosts.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ansible_collections.coldaisle.site.plugins.module_utils.host import Value

UNIVERSAL_TIME = {"UTC", "Etc/UTC", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"}
"""Names of one zone."""


def normal(value: Value) -> str:
    """Return one spelling of a value: numbers, flags and what YAML makes of them."""
    text = " ".join(str(value).split())
    return text.lower() if text in {"True", "False"} else text


def fits(rule: str, planned: Value, seen: Value) -> bool:
    """Tell whether a value fits the plan by a rule; the same value always does."""
    left, right = normal(planned), normal(seen)
    return left == right or RULES[rule](left, right)


def _numbers(left: str, right: str) -> tuple[int, int] | None:
    return (int(left), int(right)) if left.isdigit() and right.isdigit() else None


def _at_least(planned: str, seen: str) -> bool:
    both = _numbers(planned, seen)
    return both is not None and both[1] >= both[0]


def _at_most(planned: str, seen: str) -> bool:
    both = _numbers(planned, seen)
    return both is not None and both[1] <= both[0]


def _limit(planned: str, seen: str) -> bool:
    return seen == "unlimited" or _at_least(planned, seen)


def _version(planned: str, seen: str) -> bool:
    """Compare number by number; what has no number cannot be measured, and never passes."""
    floor, found = (tuple(int(part) for part in re.findall(r"\d+", text)) for text in (planned, seen))
    return found >= floor > () and found > ()


def _uuid(planned: str, seen: str) -> bool:
    """SMBIOS has three numbers of a UUID with their last byte first (since 2.6), and IPMI turns all of it around."""
    import uuid  # noqa: PLC0415  # no host compares any, and each would load it at every read

    try:
        left, right = uuid.UUID(planned), uuid.UUID(seen)
    except ValueError:
        return False
    return right.bytes in {left.bytes, left.bytes_le, left.bytes[::-1]}


def items(text: str) -> set[str]:
    """Return the items of a list with commas."""
    return {item.strip() for item in text.split(",") if item.strip()}


RULES: dict[str, Callable[[str, str], bool]] = {
    "same": lambda _planned, _seen: False,
    "at_least": _at_least,
    "at_most": _at_most,
    "limit": _limit,
    "version": _version,
    "set": lambda planned, seen: items(planned) == items(seen),
    "contains": lambda planned, seen: items(planned) <= items(seen),
    "zone": lambda planned, seen: {planned, seen} <= UNIVERSAL_TIME,
    "uuid": _uuid,
    "image": lambda planned, seen: planned.rpartition("/")[2] == seen,
}
"""Rules by name; each is asked only where the two values differ."""
