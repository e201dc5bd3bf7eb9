"""
Which test runs on which host, in which order: the part of the plan that acceptance carries out. Pure.

A host's own tests come first, by failure domain. Then come the rounds of the fabric: in a round a host is in one pair,
so that no figure is halved by another test; in the last rounds rails, racks and the whole pool talk at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coldaisle.acceptance.records import DOMAINS, PHASES, Limit, Step
from coldaisle.acceptance.suite import SUITE, WRITE_SERVER, Trial
from coldaisle.plan.model import NicPlan, NodePlan, PoolPlan, SitePlan
from coldaisle.spec.acceptance import Domain, Phase

Floors = Mapping[str, Mapping[str, tuple[float, str]]]
"""By system and metric: the limit, and the document that it stands in."""

FIRST_PORT = 18515
"""The TCP port on which perftest's programs meet (their default)."""

DEFAULT_ROUNDS = 3
"""Partners that every port is paired with: enough to tell which of two ends is slow. 0 asks for the whole matrix."""

RDMA = frozenset({"roce", "infiniband"})
"""Kinds of fabrics that carry RDMA."""

FOLDER = "/var/tmp"  # noqa: S108 - on a host, a disk that outlives a restart
"""Where storage is tested, where the site names no folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """
    What to test: up to which phase, which domains, on which nodes, and how many rounds of pairs.

    `nodes` and `tests` are all where they are None.
    """

    phase: Phase = "quick"
    domains: tuple[Domain, ...] = DOMAINS
    nodes: frozenset[str] | None = None
    rounds: int = DEFAULT_ROUNDS
    tests: frozenset[str] | None = None
    folder: str = FOLDER


def plan_steps(plan: SitePlan, floors: Floors, wanted: Selection) -> tuple[Step, ...]:
    """Return every step in the order in which they run."""
    nodes = [node for node in plan.nodes if wanted.nodes is None or node.name in wanted.nodes]
    found: list[Step] = []
    for pool in plan.pools:
        members = [node for node in nodes if node.pool == pool.name]
        slice_ = _Slice(plan, pool, floors.get(pool.system, {}), wanted)
        trials = [trial for trial in SUITE if _runs(trial, wanted, pool)]
        for trial in trials:
            found += slice_.steps(trial, members)
    place = {domain: at for at, domain in enumerate(DOMAINS)}
    return tuple(sorted(found, key=lambda step: (step.round, place[step.domain])))


def _runs(trial: Trial, wanted: Selection, pool: PoolPlan) -> bool:
    at = PHASES.index(wanted.phase)
    if wanted.tests is not None and trial.name not in wanted.tests:
        return False
    if trial.domain not in wanted.domains or not PHASES.index(trial.phase) <= at <= PHASES.index(trial.until):
        return False
    if trial.vendor is not None:
        return pool.gpu is not None and pool.gpu.vendor == trial.vendor
    return trial.needs != "gpus" or pool.gpu is not None


@dataclass(frozen=True)
class _Slice:
    """One pool's part of the plan, and the limits of its system."""

    plan: SitePlan
    pool: PoolPlan
    floors: Mapping[str, tuple[float, str]]
    wanted: Selection

    def steps(self, trial: Trial, nodes: Sequence[NodePlan]) -> Iterator[Step]:
        """Yield the steps of one test on a pool's nodes."""
        if trial.scope == "node":
            yield from (self._own(trial, node) for node in nodes if trial.needs != "rails" or self._rails(node))
        elif trial.scope == "pair":
            yield from self._pairs(trial, nodes)
        else:
            yield from self._groups(trial, nodes)

    def _rails(self, node: NodePlan) -> tuple[NicPlan, ...]:
        return rails(self.plan, node)

    def _own(self, trial: Trial, node: NodePlan) -> Step:
        expects: dict[str, object] = {"gpus": node.gpus} if self.pool.gpu else {}
        expects |= {"tests": list(trial.tests)} if trial.tests else {}
        expects |= {"directory": self.wanted.folder} if trial.domain == "storage" else {}
        if trial.domain == "nic":
            ports = self._rails(node)
            expects = {"ports": [nic.name for nic in ports], "cables": self._cables(node), "fabric": self._kind(ports)}
        return self._step(trial, (node.name,), expects, {"gpus": str(node.gpus), "folder": self.wanted.folder})

    def _kind(self, ports: Sequence[NicPlan]) -> str:
        return self.plan.fabrics[ports[0].fabric].kind

    def _cables(self, node: NodePlan) -> dict[str, list[str]]:
        """Return, by port, the switch and its port at the other end of the planned cable."""
        found = {}
        for cable in (cable for fabric in self.plan.fabrics.values() for cable in fabric.cables):
            for own, other in ((cable.a, cable.b), (cable.b, cable.a)):
                if own.device == node.name:
                    found[own.port] = [other.device, other.port]
        return {nic.name: found[nic.name] for nic in self._rails(node) if nic.name in found}

    def _pairs(self, trial: Trial, nodes: Sequence[NodePlan]) -> Iterator[Step]:
        """Yield the pairs of every rail, a round after the other; every port leads and serves in turn."""
        for number, couples in enumerate(rounds([node.name for node in nodes], self.wanted.rounds), start=1):
            by_name = {node.name: node for node in nodes}
            for one, other in couples:
                lead, serve = (by_name[one], by_name[other]) if number % 2 else (by_name[other], by_name[one])
                for at, nic in enumerate(self._rails(lead)):
                    yield self._pair(trial, (lead, serve), nic, number, FIRST_PORT + at)

    def _pair(self, trial: Trial, ends: tuple[NodePlan, NodePlan], nic: NicPlan, number: int, port: int) -> Step:
        """Return the step of one rail between two hosts; the first leads, and the second serves meanwhile."""
        cables = {node.name: self._cables(node).get(nic.name, []) for node in ends}
        words = {"rail": nic.name, "port": str(port), "address": address(ends[1])}
        step = self._step(trial, tuple(node.name for node in ends), {"cables": cables}, words, number)
        return replace(step, serve=tuple(word.format(**words) for word in WRITE_SERVER), port=port)

    def _groups(self, trial: Trial, nodes: Sequence[NodePlan]) -> Iterator[Step]:
        """Yield a step a group of at least two hosts; racks run in one round, rails one after the other."""
        last = sum(1 for _ in rounds([node.name for node in nodes], self.wanted.rounds))
        if trial.scope == "rail":
            ports = self._rails(nodes[0]) if len(nodes) > 1 else ()
            for at, nic in enumerate(ports):
                yield self._group(trial, nodes, last + 1 + at, nic)
            return
        behind = last + 1 + (len(self._rails(nodes[0])) if nodes else 0)
        racks = dict.fromkeys(node.rack for node in nodes)
        if trial.scope == "rack":
            groups = [[node for node in nodes if node.rack == rack] for rack in racks]
            yield from (self._group(trial, group, behind, None) for group in groups if len(group) > 1)
        elif len(racks) > 1:
            yield self._group(trial, nodes, behind + 1, None)

    def _group(self, trial: Trial, nodes: Sequence[NodePlan], number: int, nic: NicPlan | None) -> Step:
        """Return a step of many hosts, led by the first: all their GPUs, or the one that is nearest to a rail."""
        slots = 1 if nic else nodes[0].gpus
        names = tuple(node.name for node in nodes)
        vendor = self.pool.gpu.vendor if self.pool.gpu else ""
        words = {
            "hosts": ",".join(f"{address(node)}:{slots}" for node in nodes),
            "count": str(slots * len(nodes)),
            "rail": nic.name if nic else "",
            "gpu": str(nic.gpu or 0) if nic else "",
            "visible": "HIP_VISIBLE_DEVICES" if vendor == "AMD" else "CUDA_VISIBLE_DEVICES",
        }
        expects = {"transport": "rdma", "hosts": list(names)}
        return self._step(trial, names, expects, words, number)

    def _step(
        self, trial: Trial, hosts: tuple[str, ...], expects: Mapping[str, object], words: Mapping[str, str], at: int = 0
    ) -> Step:
        """Return a step of a round (`at`, 0 for what a host does by itself), its words filled in."""
        rail = words.get("rail") or None
        name = "/".join([*hosts[: 2 if trial.scope == "pair" else 1], *([rail] if rail else []), trial.name])
        return Step(
            id=name,
            test=trial.name,
            domain=trial.domain,
            hosts=hosts,
            argv=tuple(word.format(**words) if "{" in word else word for word in trial.argv),
            parser=trial.parser,
            timeout_s=trial.timeout_s,
            takes_s=trial.takes_s,
            limits=tuple(self._limits(trial)),
            expects=expects,
            rail=rail,
            round=at,
        )

    def _limits(self, trial: Trial) -> Iterator[Limit]:
        for kind, metrics in (("floor", trial.floors), ("ceiling", trial.ceilings)):
            for metric in metrics:
                value, source = self.floors.get(trial.metrics.get(metric, metric), (None, None))
                yield Limit(metric=metric, kind="floor" if kind == "floor" else "ceiling", value=value, source=source)


def rails(plan: SitePlan, node: NodePlan) -> tuple[NicPlan, ...]:
    """Return the ports of a node on the rails of a fabric that carries RDMA between GPUs, by rail and plane."""
    kinds = {name: fabric.kind for name, fabric in plan.fabrics.items()}
    ports = (nic for nic in node.nics if nic.rail is not None and nic.gpu is not None and kinds.get(nic.fabric) in RDMA)
    return tuple(sorted(ports, key=lambda nic: (nic.rail or 0, nic.plane, nic.name)))


def address(node: NodePlan) -> str:
    """Return the address under which hosts meet to begin a test; the test itself then goes over RDMA."""
    return node.management_address.split("/", maxsplit=1)[0]


def rounds(names: Sequence[str], most: int) -> Iterator[list[tuple[str, str]]]:
    """
    Yield rounds of pairs in which each host is once, so that after all of them each has met each other once.

    The circle method of round-robin tournaments: one host stays, the others move on by a place. With an odd number one
    host rests each round. `most` ends after so many rounds; 0 gives all.
    """
    circle: list[str | None] = [*names, *([None] if len(names) % 2 else [])]
    for number in range(len(circle) - 1):
        if most and number >= most:
            return
        half = len(circle) // 2
        couples = zip(circle[:half], reversed(circle[half:]), strict=True)
        yield [(one, other) for one, other in couples if one is not None and other is not None]
        circle = [circle[0], circle[-1], *circle[1:-1]]


def by_host(steps: Iterable[Step]) -> dict[str, list[Step]]:
    """Return the steps that each host runs, its own first, then those that it leads by round."""
    found: dict[str, list[Step]] = {}
    for step in steps:
        found.setdefault(step.host, []).append(step)
    return found
