"""Checks of the policies by which changes go through a site."""

from __future__ import annotations

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from coldaisle.check.finding import Finding, finding
from coldaisle.plan.model import SitePlan
from coldaisle.plan.rollout import prometheus_url
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


def check_telemetry(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """What asks telemetry has to know where."""
    named = [name for name, pool in spec.node_pools.items() if pool.rollout and pool.rollout.telemetry]
    named += [name for name, fabric in spec.fabrics.items() if fabric.rollout and fabric.rollout.telemetry]
    if named and prometheus_url(spec) is None:
        what = "changes are held against telemetry, and the site names no Prometheus"
        fix = "set site.prometheus_url to where the deploy host reaches it"
        yield finding(spec, ("site",), "no-prometheus", what=what, have=f"rollout of {', '.join(named)}", fix=fix)


def check_acceptance_key(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """What is accepted by `up`, or tested in waves, is signed: a site without a key would find out after an hour."""
    pools = spec.node_pools.items()
    named = [name for name, pool in pools if pool.acceptance or (pool.rollout and pool.rollout.acceptance)]
    if named and not (spec.site.evidence and spec.site.evidence.signing_key_file):
        what = "nodes are accepted by 'up', and the site names no key that signs the evidence"
        fix = "set site.evidence.signing_key_file; ssh-keygen -t ed25519 -N '' -f FILE makes one"
        yield finding(spec, ("site",), "no-signing-key", what=what, have=f"pools {', '.join(named)}", fix=fix)


ROLLOUT_CHECKS = (check_window_zone, check_telemetry, check_acceptance_key)
