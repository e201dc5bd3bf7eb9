"""
When a seen value counts as the planned one.

Most facts must be equal. Some are floors (an MTU, a driver version), some are sets, and some have several spellings for
one thing. The rule goes by the fact's kind (`kinds`), so that the provider's diff and the drift report cannot disagree.
"""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

from coldaisle.drift.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coldaisle.drift.kinds import RuleName

Fact = str | int | float | bool | None
"""A value of a flat fact. Numbers come back from the engine as floats."""


def same(name: str, planned: Fact, seen: Fact) -> bool:
    """Say whether the fact `name`, planned as `planned`, is satisfied by `seen`."""
    left, right = normal(planned), normal(seen)
    if left == right:
        return True
    if left is None or right is None:
        return False
    return _rule(name)(left, right)


def normal(value: Fact) -> str | None:
    """Return one spelling of a value: `9000.0`, `9000` and `"9000"` are one, so are `True` and `"true"`."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = " ".join(str(value).split())
    return text.lower() if text in {"True", "False"} else text


def _different(_planned: str, _seen: str) -> bool:
    return False


def _number_at_least(planned: str, seen: str) -> bool:
    return planned.isdigit() and seen.isdigit() and int(seen) >= int(planned)


def _number_at_most(planned: str, seen: str) -> bool:
    return planned.isdigit() and seen.isdigit() and int(seen) <= int(planned)


def _limit_at_least(planned: str, seen: str) -> bool:
    return seen == "unlimited" or _number_at_least(planned, seen)


def _version_at_least(planned: str, seen: str) -> bool:
    """Compare number by number: 580.65.06 is at least 580.9, since 65 is more than 9."""
    floor, found = _numbers(planned), _numbers(seen)
    return bool(floor) and bool(found) and found >= floor


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _same_image(planned: str, seen: str) -> bool:
    """Some BMCs show only the last part of the URL that an image came from."""
    return planned.rpartition("/")[2] == seen


def _same_uuid(planned: str, seen: str) -> bool:
    """SMBIOS has three numbers of a UUID with their last byte first (since 2.6), and IPMI turns all of it around."""
    try:
        left, right = uuid.UUID(planned), uuid.UUID(seen)
    except ValueError:
        return False
    return right.bytes in {left.bytes, left.bytes_le, left.bytes[::-1]}


def _items(text: str) -> set[str]:
    return {item.strip() for item in text.split(",") if item.strip()}


def _same_zone(planned: str, seen: str) -> bool:
    universal = {"UTC", "Etc/UTC", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"}
    return planned in universal and seen in universal


RULES: Mapping[RuleName, Callable[[str, str], bool]] = {
    "same": _different,
    "at_least": _number_at_least,
    "at_most": _number_at_most,
    "limit": _limit_at_least,
    "version": _version_at_least,
    "set": lambda planned, seen: _items(planned) == _items(seen),
    "contains": lambda planned, seen: _items(planned) <= _items(seen),
    "zone": _same_zone,
    "image": _same_image,
    "uuid": _same_uuid,
}
"""Rules by name, each asked only where the two values differ."""


def _rule(name: str) -> Callable[[str, str], bool]:
    kind = KINDS.get(name.partition(".")[0])
    return RULES[kind.rule] if kind else _different
