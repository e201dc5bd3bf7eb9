"""What several parsers need: figures that are figures, JSON that is whole, and GPUs that were all looked at."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from typing import Any

from coldaisle.acceptance.records import CannotTellError, Fault, Where


def figure(text: str, what: str) -> float:
    """Return a figure; CannotTellError where it is none, or not a finite one."""
    try:
        value = float(text)
    except ValueError:
        raise CannotTellError(f"{what} is {text!r}, which is no figure") from None
    if not math.isfinite(value):
        raise CannotTellError(f"{what} is {text!r}")
    return value


def json_object(text: str, tool: str) -> dict[str, Any]:
    """Return the JSON object that a tool printed, also where it wrote lines before it; CannotTellError otherwise."""
    start = text.find("{")
    try:
        value = json.loads(text[start:]) if start >= 0 else None
    except ValueError as error:
        raise CannotTellError(f"the JSON of {tool} ends early or is broken: {error}") from None
    if not isinstance(value, dict):
        raise CannotTellError(f"{tool} printed no JSON object")
    return value


def missing_gpus(seen: Collection[int], expects: Mapping[str, Any], tool: str) -> tuple[Fault, ...]:
    """
    Return a fault for each planned GPU that a tool did not see.

    A tool numbers the GPUs that it finds from 0, so that a lost one shifts the others: which slot is empty follows from
    the slots that were recorded when the node was inspected, not from the index.
    """
    count = expects.get("gpus")
    if count is None or len(seen) == count:
        return ()
    if len(seen) > count:
        raise CannotTellError(f"{tool} tells of {len(seen)} GPUs, and the plan has {count}")
    lost = sorted(set(range(count)) - set(seen))
    what = f"{tool} sees {len(seen)} of {count} GPUs"
    return (Fault(what, Where("gpu", str(lost[0])) if len(lost) == 1 and lost[0] < count - 1 else None),)
