"""Checks of the policies by which changes go through a site."""

from __future__ import annotations

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from coldaisle.check.finding import Finding, finding
from coldaisle.plan.model import SitePlan
from coldaisle.spec.sections import SiteSpec


def check_window_zone(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """Windows are hours of the site's clock, so its time zone must be one that there is."""
    policies = [pool.rollout for pool in spec.node_pools.values()]
    policies += [fabric.rollout for fabric in spec.fabrics.values()]
    if any(policy and policy.windows for policy in policies) and not _is_zone(spec.site.timezone):
        what = f"windows cannot be told: there is no time zone {spec.site.timezone}"
        fix = "write a name of the tz database, such as Europe/Berlin"
        yield finding(spec, ("site", "timezone"), "unknown-timezone", what=what, fix=fix)


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # a folder, a path that leads out, and a name that nobody knows
        return False
    return True


ROLLOUT_CHECKS = (check_window_zone,)
