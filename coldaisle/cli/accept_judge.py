"""
From what tools printed to signed evidence: the one path of `coldaisle accept`, of the play `accept`, and of waves.

It lies here, and not with the tests, since neighbours are read by the module that verifies cabling.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from coldaisle.acceptance import NodeOutcome, Output, Phase, Result, Step, body_of, judge, outcomes
from coldaisle.acceptance.body import ACCEPTANCE, AFTER_STEP, RUN, run_of
from coldaisle.acceptance.judge import Worse
from coldaisle.acceptance.parsers import PARSERS, Parser
from coldaisle.acceptance.records import CannotTellError, Fault, Measured, Reading, Where
from coldaisle.acceptance.standing import Wanted, about, failures
from coldaisle.acceptance.wire import read_outputs
from coldaisle.evidence import EvidenceError, Statement, Store
from coldaisle.plan import plan_hash
from coldaisle.plan.acceptance import aspects_of
from coldaisle.plan.model import SitePlan
from coldaisle.spec.acceptance import Domain
from coldaisle.spec.sections import SiteSpec
from coldaisle.verify import UnknownFormatError
from coldaisle.verify import read as read_neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """
    What a run found.

    `evidence` are the files by node; `problems` say what was not written, and who did not answer.
    """

    site: str
    plan: str
    phase: Phase
    who: str
    when: datetime
    results: tuple[Result, ...]
    outcomes: tuple[NodeOutcome, ...]
    evidence: Mapping[str, Path]
    problems: tuple[str, ...] = ()


def _no_worse(_step: Step, _figure: Measured) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Judging:
    """
    Judges outputs, and keeps the evidence: by whom, when, and of which phase.

    `strict` takes a figure without a limit for no pass. `wanted` has, by node, what a result is about; `tests` are all
    that ran where that was no whole acceptance, `wave` the play whose wave asked for it, and `worse` holds figures
    against those of before. `steps` are the numbers of the nodes' last steps in the site's journal: evidence names the
    one that it comes after, since times are those of a clock that may be set.
    """

    plan: SitePlan
    store: Store
    phase: Phase
    who: str
    when: datetime
    strict: bool = False
    wanted: Mapping[str, Wanted] = field(default_factory=dict)
    tests: frozenset[str] = frozenset()
    wave: str = ""
    worse: Worse = _no_worse
    steps: Mapping[str, int] = field(default_factory=dict)

    def judged(self, steps: Sequence[Step], outputs: Mapping[str, Output], problems: Sequence[str] = ()) -> Done:
        """Judge outputs, and keep the evidence."""
        like = {node.name: node.system for node in self.plan.nodes}
        results = judge(steps, outputs, like, parsers(), self.worse)
        results = tuple(_strictly(result) for result in results) if self.strict else results
        before = bodies_of(self.store, {host for step in steps for host in step.hosts})
        found = outcomes(results, self._failures(before))
        files, unkept = self._keep(found, results, {node: run_of(bodies[-1]) for node, bodies in before.items()})
        return Done(
            site=self.plan.name,
            plan=plan_hash(self.plan),
            phase=self.phase,
            who=self.who,
            when=self.when,
            results=results,
            outcomes=found,
            evidence=files,
            problems=(*problems, *unkept),
        )

    def _failures(self, before: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, int]:
        """Return how often in a row each node has failed as it is now, by its evidence."""
        aspects = {node: wanted.aspects for node, wanted in self.wanted.items()}
        return {node: failures(found, aspects.get(node, {})) for node, found in before.items()}

    def _keep(
        self, found: Sequence[NodeOutcome], results: Sequence[Result], runs: Mapping[str, int]
    ) -> tuple[dict[str, Path], list[str]]:
        """Keep the evidence of every node; one that cannot be kept does not keep the others from it."""
        files, problems, digest = dict[str, Path](), list[str](), plan_hash(self.plan)
        for outcome in found:
            statement = Statement(
                kind=ACCEPTANCE,
                subjects=(outcome.node,),
                plan_hash=digest,
                who=self.who,
                when=self.when,
                body=body_of(outcome, results, self.phase, self._about(outcome.node))
                | {RUN: runs.get(outcome.node, 0) + 1, AFTER_STEP: self.steps.get(outcome.node, 0)},
            )
            try:
                files[outcome.node] = self.store.keep(statement)
            except EvidenceError as error:
                problems.append(str(error))
        return files, problems

    def _about(self, node: str) -> dict[str, Any]:
        known = self.wanted.get(node)
        return about(known, self.tests, self.wave) if known else {}


def _strictly(result: Result) -> Result:
    return replace(result, status="could-not-tell") if result.status == "measured" else result


def parsers() -> Mapping[str, Parser]:
    """Return every parser, the neighbours' one among them: it reads what `coldaisle verify cabling` reads."""
    return {**PARSERS, "neighbours": neighbours}


def neighbours(text: str, expects: Mapping[str, Any]) -> Reading:
    """Read `lldpctl -f json`: a port whose neighbour is not the planned one has a wrong cable."""
    try:
        answer = read_neighbours(text.encode(), "lldpctl")
    except UnknownFormatError as error:
        raise CannotTellError(str(error)) from None
    if not answer.whole:
        raise CannotTellError("; ".join(answer.notes))
    seen = {port: one.remote for one in answer.neighbours for port in one.local.ports}
    faults = []
    for port, (device, far) in expects.get("cables", {}).items():
        told = seen.get(port)
        if told is None:
            faults.append(Fault(f"nobody is heard behind {port}", Where("cable", port)))
        elif told.name != device or far not in told.ports:
            what = f"{port} ends at {told.label}:{told.port_label}, and not at {device}:{far}"
            faults.append(Fault(what, Where("cable", port)))
    return Reading(faults=tuple(faults))


def kept(folder: Path) -> dict[str, Output]:
    """Return what the hosts said, from the files that the playbook left."""

    def lines() -> Iterator[str]:
        for path in sorted((folder / "kept").glob("*.jsonl")):
            yield from path.read_text(encoding="utf-8").splitlines()

    return read_outputs(lines())


def wanted_of(plan: SitePlan, phase: Phase, domains: tuple[Domain, ...]) -> dict[str, Wanted]:
    """Return, by node, what a result of a phase is about."""
    aspects = aspects_of(plan, plan.pools)
    return {node: Wanted(phase=phase, domains=domains, aspects=found) for node, found in aspects.items()}


def last_steps(spec: SiteSpec) -> dict[str, int]:
    """Return the number of each node's last step in the site's journal."""
    return {node: step.step for node, step in spec.journal.last.items()}


def bodies_of(store: Store, nodes: Collection[str]) -> dict[str, list[Mapping[str, Any]]]:
    """
    Return, by node that has any, the bodies of its acceptance, oldest first; what cannot be believed does not count.

    Their order is that of the runs: a clock that was set back would put the newest before the others.
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    for statement in store.about(ACCEPTANCE, nodes):
        found.setdefault(statement.subjects[0], []).append(statement.body)
    return {node: sorted(bodies, key=run_of) for node, bodies in found.items()}
