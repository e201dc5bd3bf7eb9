"""
Tests hosts for the play `accept` and for waves, and tells by their evidence which ones are accepted.

What is tested, how it is judged and what is signed is that of `coldaisle accept`: here are its hands, the runs of the
provider. Nobody is tested twice: evidence that is current for a host as it is planned now is as good as a test.
"""

from __future__ import annotations

import asyncio
import getpass
import tempfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from coldaisle.acceptance import DOMAINS, Domain, Selection, floors, plan_steps
from coldaisle.acceptance.body import ACCEPTANCE, run_of
from coldaisle.acceptance.compare import Before, Compared
from coldaisle.acceptance.standing import Standing, Wanted, standing
from coldaisle.acceptance.times import expected_s, longest_s, measured
from coldaisle.acceptance.wire import PAIRED, paired, variables_by_host
from coldaisle.cli.accept_judge import Done, Judging, bodies_of, kept, last_steps, wanted_of
from coldaisle.cli.accept_run import FORKS
from coldaisle.drift.answers import NOT_FACTS
from coldaisle.evidence import EvidenceError, Store, open_store
from coldaisle.plan import plan_site
from coldaisle.plan.acceptance import ACCEPTED
from coldaisle.spec import SpecError, load_site
from components.provider.outcome import NotAccepted, RunResult
from components.provider.reading import Reading
from components.provider.repair import take_out
from components.provider.site import SiteProblemError, site_folder, spec_stamp
from components.provider.work import ACCEPT, SHOWN_HOSTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldaisle.acceptance import NodeOutcome
    from coldaisle.acceptance.steps import Floors
    from coldaisle.plan.model import AcceptancePlan, SitePlan, WaveAcceptancePlan
    from coldaisle.spec.sections import SiteSpec
    from components.provider.outcome import Trouble
    from components.provider.work import Work

IDENTITY = frozenset({"gpu-state", "gpu-list"})
"""Tests that tell serials and slots, so that a part can be named by them: they go with every choice of tests."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A site as far as its acceptance goes: spec and plan, limits by system, where evidence is kept."""

    spec: SiteSpec
    plan: SitePlan
    floors: Floors
    store: Store

    def pool_of(self, host: str) -> AcceptancePlan:
        """Return how a host's pool is accepted."""
        name = next(node.pool for node in self.plan.nodes if node.name == host)
        found = next(pool.acceptance for pool in self.plan.pools if pool.name == name)
        if found is None:
            raise SiteProblemError(f"the pool {name} of {host} is not accepted by 'up'\n  fix: give it 'acceptance'")
        return found


def ground_of(site: str) -> Ground:
    """
    Return the ground of a site, once as long as its files stay the same.

    Raises:
        SiteProblemError: the spec cannot be used, or names no key that signs.

    """
    folder = site_folder(site)
    return _ground(folder, spec_stamp(folder))


@lru_cache(maxsize=2)
def _ground(folder: Path, _stamp: tuple[tuple[str, int], ...]) -> Ground:
    try:
        spec = load_site(folder)
        return Ground(spec, plan_site(spec), floors(spec.catalog), open_store(spec))
    except (SpecError, EvidenceError) as error:
        raise SiteProblemError(f"nothing can be accepted: {error}") from None


class Accepting:
    """Tests hosts of a site's pools."""

    def told(self, work: Work, hosts: list[str]) -> dict[str, Reading]:
        """Return what the evidence says of hosts: the phase that they passed, and with what."""
        found = self.standings(work, hosts)
        return {
            host: Reading({name: found[host].facts.get(name) for name in work.play.hosts[host].keys() - NOT_FACTS})
            for host in hosts
            if host in found
        }

    def standings(self, work: Work, hosts: list[str]) -> dict[str, Standing]:
        """Return where hosts stand by their evidence; hosts that the plan has no more are left out."""
        ground = ground_of(work.play.site)
        return _standings(ground, bodies_of(ground.store, hosts), hosts)

    def foreseen(self, work: Work, hosts: list[str]) -> str:
        """Return which of the hosts would be tested, why, and about how long that takes side by side."""
        ground = ground_of(work.play.site)
        kept_of = bodies_of(ground.store, work.play.hosts)
        known = _standings(ground, kept_of, hosts)
        due = [host for host in hosts if known[host].kind == "due"]
        if not due:
            return f"none of {len(hosts)} hosts is to be tested: their evidence is current, or they are given up"
        policy = ground.pool_of(due[0])
        selection = Selection(phase=policy.phase, domains=_domains(policy), nodes=frozenset(due))
        took = measured(body for bodies in kept_of.values() for body in bodies[-1:])
        minutes = expected_s(plan_steps(ground.plan, ground.floors, selection), FORKS, took) / 60
        why = "; ".join(f"{host}: {known[host].why}" for host in due[:SHOWN_HOSTS])
        return f"tests {len(due)} hosts, phase {policy.phase}, about {max(1, round(minutes))} min side by side ({why})"

    async def accept(self, work: Work, hosts: list[str]) -> RunResult:
        """Test hosts by what their pool asks for; one that is not accepted is told with the part to replace."""
        ground = ground_of(work.play.site)
        policy = ground.pool_of(hosts[0])
        wanted = _wanted(ground, hosts)
        judging = _judging(work, ground, policy.phase, wanted)
        result, done = await self._test(
            work, ground, hosts, judging, Selection(phase=policy.phase, domains=_domains(policy))
        )
        if done is None:
            return result
        result.trouble |= _refused(done, result)
        for outcome in (each for each in done.outcomes if each.event == "repair"):
            text = take_out(ground.spec, judging, outcome, policy.after_failures)
            told = cast("NotAccepted", result.trouble[outcome.node])
            result.trouble[outcome.node] = replace(told, message=f"{told.message}; {text}")
        return result

    async def try_wave(
        self, work: Work, hosts: list[str], policy: WaveAcceptancePlan, *, before: bool
    ) -> dict[str, Trouble]:
        """
        Test hosts of a wave, and hold what they reach against what they reached when they were last accepted.

        With `before` only hosts that nothing is known of are measured, so that there is something to hold against.
        """
        ground = ground_of(work.play.site)
        known = _before(ground, hosts)
        chosen = [host for host in hosts if host not in known] if before else hosts
        if not chosen:
            return {}
        wanted = wanted_of(ground.plan, policy.phase, tuple(cast("Domain", it) for it in policy.domains) or DOMAINS)
        mine = {host: replace(wanted[host], aspects={}) if before else wanted[host] for host in chosen}
        judging = replace(
            _judging(work, ground, policy.phase, mine),
            tests=frozenset(policy.tests),
            wave=work.name,
            worse=Compared({} if before else known, policy.max_loss_percent),
        )
        tests = frozenset(policy.tests) | IDENTITY if policy.tests else None
        selection = Selection(phase=policy.phase, domains=next(iter(mine.values())).domains, tests=tests)
        result, done = await self._test(work, ground, chosen, judging, selection)
        return result.trouble | (_refused(done, result) if done else {})

    async def _test(
        self, work: Work, ground: Ground, hosts: list[str], judging: Judging, selection: Selection
    ) -> tuple[RunResult, Done | None]:
        """Run tests and judge them; nothing is judged of a run that was stopped."""
        steps = plan_steps(ground.plan, ground.floors, replace(selection, nodes=frozenset(hosts)))
        with tempfile.TemporaryDirectory(prefix="coldaisle-accept-") as folder:
            (Path(folder) / "kept").mkdir()
            variables = variables_by_host(steps, str(Path(folder) / "kept"), hosts)
            limits = FORKS, longest_s(steps, FORKS)
            result = await work.run(ACCEPT, hosts, variables, limits, **{PAIRED: paired(steps)})
            outputs = kept(Path(folder))
        if work.stopped:
            return result, None
        return result, await asyncio.to_thread(judging.judged, steps, outputs)


def _standings(
    ground: Ground, bodies: Mapping[str, Sequence[Mapping[str, Any]]], hosts: Sequence[str]
) -> dict[str, Standing]:
    """Return where hosts of the plan stand by the bodies of their evidence."""
    planned = {node.name for node in ground.plan.nodes}
    wanted = _wanted(ground, [host for host in hosts if host in planned])
    return {host: standing(bodies.get(host, ()), each, ACCEPTED) for host, each in wanted.items()}


def _wanted(ground: Ground, hosts: Sequence[str]) -> dict[str, Wanted]:
    """Return what hosts of one pool have to have passed."""
    if not hosts:
        return {}
    policy = ground.pool_of(hosts[0])
    found = wanted_of(ground.plan, policy.phase, _domains(policy))
    return {host: found[host] for host in hosts}


def _domains(policy: AcceptancePlan) -> tuple[Domain, ...]:
    return tuple(domain for domain in DOMAINS if domain in policy.domains)


def _judging(work: Work, ground: Ground, phase: Any, wanted: Mapping[str, Wanted]) -> Judging:  # noqa: ANN401
    when = datetime.fromtimestamp(work.shared.clock(), UTC)
    who, after = getpass.getuser(), last_steps(ground.spec)
    return Judging(ground.plan, ground.store, phase, who, when, wanted=wanted, steps=after)


def _before(ground: Ground, hosts: Sequence[str]) -> dict[str, Before]:
    """Return what hosts reached when they were last accepted; what was refused is nothing to hold against."""
    found: dict[str, Before] = {}
    for known in sorted(ground.store.about(ACCEPTANCE, hosts), key=lambda known: run_of(known.body)):
        if known.body.get("result") == "accepted":
            found[known.subjects[0]] = Before.of(known.body, f"{known.when:%Y-%m-%d}")
    return found


def _refused(done: Done, result: RunResult) -> dict[str, Trouble]:
    """Return the hosts that are not accepted; of one that a run has not come to the end with, that is told."""
    found: dict[str, Trouble] = {}
    for outcome in done.outcomes:
        if outcome.node in result.trouble:
            continue
        if outcome.verdict != "accepted":
            file = done.evidence.get(outcome.node)
            found[outcome.node] = NotAccepted(_reasons(outcome), str(file) if file else "")
        elif outcome.node not in done.evidence:
            found[outcome.node] = NotAccepted(f"it passed, and its evidence was not kept: {done.problems[0]}")
    return found


def _reasons(outcome: NodeOutcome) -> str:
    """Return why a host is not accepted, each reason with the part to replace."""
    lines = [
        f"{test}: {reason.what}" + (f" (part: {reason.part.text()})" if reason.part else "")
        for test, reason in outcome.reasons
    ]
    text = "; ".join(dict.fromkeys(lines))
    return f"could not tell: {text}" if outcome.verdict == "could-not-tell" else text
