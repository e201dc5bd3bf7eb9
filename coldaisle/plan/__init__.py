"""Everything that follows from a spec: pure functions, frozen results."""

from coldaisle.plan.json import json_text, plan_hash, to_json
from coldaisle.plan.model import SitePlan
from coldaisle.plan.site import plan_site

__all__ = ["SitePlan", "json_text", "plan_hash", "plan_site", "to_json"]
