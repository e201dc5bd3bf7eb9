"""
From changes to waves: a canary, then one failure domain after another, each cut to the limits.

A wave stays within one failure domain, so that what goes wrong takes down no more than that; and within the limits, so
that enough of every pool, rack and power feed keeps working.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from coldaisle.plan.model import Amount, RolloutPlan
from coldaisle.waves.records import AT_ONCE, Change, Limits, Target, Wave, WavesError, at_least, at_most

ONE_PARTNER = 1
"""Of two that stand in for each other, one may be out."""


def limits(
    policy: RolloutPlan, everyone: Iterable[Target], changing: Sequence[Change], out: frozenset[str] = frozenset()
) -> Limits:
    """
    Return the limits of a rollout as counts.

    Args:
        policy: Limits as the site writes them.
        everyone: All targets of the site, changing or not: shares are of those that are hosts, or switches, as what
            changes is. A rack's switches are none of its hosts.
        changing: The changes; their targets are among `everyone`.
        out: Targets that are out already, each of which takes its place in every limit but that of one wave.

    """
    members: defaultdict[str, set[str]] = defaultdict(set)
    kinds = {change.target.is_switch for change in changing}
    for target in (each for each in everyone if each.is_switch in kinds):
        for name in _names(policy, target):
            members[name].add(target.name)
    amounts: dict[str, Amount] = {str(kind): amount for kind, amount in policy.max_unavailable.items()}
    changed = {change.target.name for change in changing}
    allowed = {AT_ONCE: at_most(policy.max_at_once, len(changed))}
    for name, hosts in members.items():
        amount = amounts.get(name.partition(" ")[0], ONE_PARTNER)
        allowed[name] = max(0, at_most(amount, len(hosts)) - len(hosts & out - changed))
    counted = {change.target.name: (AT_ONCE, *_names(policy, change.target)) for change in changing}
    return Limits(allowed=allowed, counted=counted)


def _names(policy: RolloutPlan, target: Target) -> tuple[str, ...]:
    """Return the limits that a target counts for: its domains that have one, and the groups of its partners."""
    domains = (f"{kind} {name}" for kind in policy.max_unavailable for name in target.domains.get(kind, ()))
    return (*domains, *(f"partners {name}" for name in target.partners))


def plan_waves(changes: Sequence[Change], policy: RolloutPlan, bounds: Limits) -> tuple[Wave, ...]:
    """
    Return the waves in their order; each target is in exactly one of them.

    Raises:
        WavesError: a target can be in no wave, since others of its limit are out already.

    """
    for change in changes:
        if (name := bounds.refuse(frozenset(), frozenset(), change.target.name)) is not None:
            raise WavesError(
                f"{change.target.name} cannot change: as many of {name} as may be are out already\n"
                f"  fix: bring those back into service first, or raise the limit in max_unavailable"
            )
    first = _canaries(changes, policy)
    chosen = {change.target.name for change in first}
    rest = [change for change in _sorted(changes, policy) if change.target.name not in chosen]
    canaries = _cut([change.target.name for change in first], bounds)
    waves = [Wave(hosts=hosts, canary=True, why=_canary_text(hosts, changes)) for hosts in canaries]
    for domain, members in _by_domain(rest, policy):
        cut = _cut(members, bounds)
        waves += [Wave(hosts=hosts, canary=False, why=f"{domain}: {len(hosts)} of {len(members)}") for hosts in cut]
    return tuple(waves)


def domain_of(change: Change, policy: RolloutPlan) -> str:
    """Return the failure domain that a change belongs to, by the policy's kind; several leaves are one domain."""
    names = "+".join(change.target.domains.get(policy.wave_by, ()))
    return f"{policy.wave_by} {names}" if names else f"no {policy.wave_by}"


def _sorted(changes: Iterable[Change], policy: RolloutPlan) -> list[Change]:
    return sorted(changes, key=lambda change: (domain_of(change, policy), change.target.name))


def _canaries(changes: Sequence[Change], policy: RolloutPlan) -> list[Change]:
    """Return the canaries: what failed before, then one of each failure domain in turn."""
    wanted = at_least(policy.canary, len(changes))
    turns: defaultdict[str, int] = defaultdict(int)
    ranked = []
    for change in _sorted(changes, policy):
        domain = domain_of(change, policy)
        ranked.append((not change.retry, turns[domain], domain, change.target.name, change))
        turns[domain] += 1
    return [entry[-1] for entry in sorted(ranked, key=lambda entry: entry[:-1])[:wanted]]


def _by_domain(changes: Iterable[Change], policy: RolloutPlan) -> Iterator[tuple[str, list[str]]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for change in changes:
        found[domain_of(change, policy)].append(change.target.name)
    yield from found.items()


def _cut(hosts: Iterable[str], bounds: Limits) -> list[tuple[str, ...]]:
    """Put each host into the first group that it passes no limit in."""
    groups: list[list[str]] = []
    counts: list[Counter[str]] = []
    full = 0
    for host in hosts:
        names = bounds.counted.get(host, ())
        fits = (at for at in range(full, len(groups)) if all(counts[at][name] < bounds.allowed[name] for name in names))
        at = next(fits, len(groups))
        if at == len(groups):
            groups.append([])
            counts.append(Counter())
        groups[at].append(host)
        counts[at].update(names)
        while full < len(groups) and len(groups[full]) >= bounds.allowed[AT_ONCE]:
            full += 1
    return [tuple(group) for group in groups]


def _canary_text(hosts: tuple[str, ...], changes: Sequence[Change]) -> str:
    return f"canary: {len(hosts)} of {len(changes)}, before all others"
