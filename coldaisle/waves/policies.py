"""Policies as JSON, which is how a stack's resource carries one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from coldaisle.plan.model import RolloutPlan


@lru_cache(maxsize=1)
def _codec() -> TypeAdapter[RolloutPlan]:
    return TypeAdapter(RolloutPlan)


def policy_json(policy: RolloutPlan) -> dict[str, Any]:
    """Return a policy as plain JSON data."""
    found: dict[str, Any] = _codec().dump_python(policy, mode="json")
    return found


def policy_of(data: Mapping[str, Any]) -> RolloutPlan:
    """
    Return the policy that JSON data holds.

    Raises:
        ValueError: it holds none (pydantic's ValidationError is one).

    """
    return _codec().validate_python(data)
