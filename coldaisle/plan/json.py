"""The plan as JSON (docs/plan-json.md), and its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from coldaisle.plan.model import SitePlan


def to_json(plan: SitePlan) -> dict[str, Any]:
    """Return the plan as plain dicts, lists, text and numbers; keys are those of `coldaisle.plan.model`."""
    plain = _plain(plan)
    version = plain.pop("schema_version")
    return {"schema_version": version, **plain}


def plan_hash(plan: SitePlan) -> str:
    """Return the SHA-256 of the plan's canonical JSON: sorted keys, no spaces, UTF-8."""
    return _digest(to_json(plan))


def record_hash(record: object) -> str:
    """Return the SHA-256 of one record of a plan, such as a fabric, in the same canonical form."""
    return _digest(_plain(record))


def _digest(plain: Any) -> str:  # noqa: ANN401 - plain data of every kind
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:  # noqa: ANN401 - a plan holds plain data of every kind
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return [_plain(item) for item in value]
