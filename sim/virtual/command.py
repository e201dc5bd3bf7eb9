"""Trials of many seeds over one site, and what is told of them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldaisle.plan.rollout import rollout_of
from coldaisle.render.ansible import inventory
from coldaisle.spec.rollout import RolloutSpec, WaveAcceptanceSpec
from components.provider.site import Site
from sim.errors import SimError
from sim.virtual.hazards import Hazards
from sim.virtual.model import CHANGED
from sim.virtual.trial import Outcome, run_trial

if TYPE_CHECKING:
    from coldaisle.plan.model import PlayPlan, RolloutPlan, SitePlan


@dataclass(frozen=True, slots=True)
class Ground:
    """What all trials of a site share: its inventory, the play that changes, and the policy of its pool."""

    name: str
    hosts: dict[str, Any]
    play: PlayPlan
    policy: RolloutPlan


def ground(plan: SitePlan, pool: str | None = None, playbook: str = "gpu") -> Ground:
    """
    Return the ground of trials: a pool that the playbook changes, by default the largest, with its policy or defaults.

    Raises:
        SimError: the site has no such pool, or a trial has no model of the playbook.

    """
    if playbook not in CHANGED:
        raise SimError(
            plan.name, f"no trial changes by {playbook}", f"models: {', '.join(CHANGED)}", "name one of them"
        )
    plays = {play.name.removeprefix(f"{playbook}-"): play for play in plan.plays if play.playbook == playbook}
    chosen = pool or max(plays, key=lambda name: len(plays[name].facts), default="")
    if chosen not in plays:
        have = f"pools with a play {playbook}: {', '.join(plays) or 'none'}"
        raise SimError(plan.name, f"there is no pool {chosen or f'with a play {playbook}'}", have, "name one of them")
    policy = next(each.rollout for each in plan.pools if each.name == chosen)
    return Ground(
        plan.name,
        inventory(plan),
        plays[chosen],
        policy or rollout_of(RolloutSpec(acceptance=WaveAcceptanceSpec()), "Etc/UTC"),
    )


def trials(place: Ground, seeds: Iterable[int], hazards: Hazards) -> Iterator[Outcome]:
    """Yield what came of each seed's trial."""
    for seed in seeds:
        hosts = copy.deepcopy(place.hosts)
        for name, facts in place.play.facts.items():
            host = hosts["all"]["hosts"][name]
            host.setdefault("drain_node", {"name": name})  # without a cluster, too: the order is judged
            host.setdefault(f"{place.play.playbook}_facts", dict(facts))
        yield run_trial(Site(place.name, hosts, Path()), place.play, place.policy, seed, hazards)


def record(outcome: Outcome) -> dict[str, Any]:
    """Return what came of a trial as JSON data, without what was told on the way."""
    found = asdict(outcome)
    found.pop("told")
    return found
