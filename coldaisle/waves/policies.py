"""Policies as JSON, which is how a stack's resource carries one."""

from __future__ import annotations

from coldaisle.plan.model import RolloutPlan
from coldaisle.waves.codec import Codec

_CODEC = Codec(RolloutPlan)
policy_json, policy_of = _CODEC.to_json, _CODEC.from_json
