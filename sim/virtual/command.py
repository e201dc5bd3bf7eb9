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
from sim.virtual.model import PLAYBOOK
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


def ground(plan: SitePlan, pool: str | None = None) -> Ground:
    """
    Return the ground of trials: a pool of GPU nodes, by default the largest, with its own policy or the defaults.

    Raises:
        SimError: the site has no such pool.

    """
    plays = {play.name.removeprefix(f"{PLAYBOOK}-"): play for play in plan.plays if play.playbook == PLAYBOOK}
    chosen = pool or max(plays, key=lambda name: len(plays[name].facts), default="")
    if chosen not in plays:
        have = f"pools with GPUs: {', '.join(plays) or 'none'}"
        raise SimError(plan.name, f"there is no pool {chosen or 'with GPUs'}", have, "name one of them")
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
        for name in place.play.facts:  # nodes of a site without a cluster are drained as well: the order is judged
            hosts["all"]["hosts"][name].setdefault("drain_node", {"name": name})
        yield run_trial(Site(place.name, hosts, Path()), place.play, place.policy, seed, hazards)


def record(outcome: Outcome) -> dict[str, Any]:
    """Return what came of a trial as JSON data, without what was told on the way."""
    found = asdict(outcome)
    found.pop("told")
    return found
