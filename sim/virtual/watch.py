"""What must hold in every trial, judged from the hosts as they really are and not from what the logic believes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldaisle.waves.records import at_most

if TYPE_CHECKING:
    from coldaisle.plan.model import Amount, Domain
    from sim.virtual.model import Host, Model

Domains = Mapping[str, Sequence[str]]


@dataclass(slots=True)
class Watch:
    """
    Looks at every run that starts, and at every host that changes.

    `limits` are the policy's shares by kind of domain; `domains` those of each host. The playbook `changing` changes
    `fact`. `canary` are the hosts that changed first, and when they began. `refused` has, by host, the version that
    tests have refused. `broken` collects what did not hold, in sentences.
    """

    limits: Mapping[Domain, Amount]
    domains: Mapping[str, Domains]
    changing: str
    fact: str
    canaries: int
    soak_s: float
    at_once: int
    may_fail: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    installed: Counter[str] = field(default_factory=Counter)
    canary: tuple[float, frozenset[str]] | None = None
    stopped: bool = False

    def starts(self, playbook: str, hosts: Collection[str], model: Model) -> None:
        """Judge the start of a run."""
        if playbook not in {"drain", self.changing}:
            return
        if self.stopped:
            self._break(f"{playbook} starts on {_some(hosts)} after a stop")
        if playbook == self.changing:
            self._judge_change(frozenset(hosts))
        self._judge_limits(frozenset(hosts), model)

    def tests(self, name: str, version: str, *, slow: bool) -> None:
        """Remember which version tests have refused on a host, until they pass there."""
        if slow:
            self.refused[name] = version
        else:
            self.refused.pop(name, None)

    def installs(self, name: str, version: str, host: Host) -> None:
        """Judge one host that gets a version: once, unless it was taken back between."""
        if not host.drained:
            self._break(f"{name} gets {version} while work runs on it")
        others = [other for other, found in self.refused.items() if found == version and other != name]
        if len(others) > self.may_fail and host.facts.get(self.fact) != version and name not in self.refused:
            self._break(f"{name} gets {version}, which tests have refused on {_some(others)}")
        self.installed[f"{name} {version}"] += host.facts.get(self.fact) != version

    def _judge_change(self, hosts: frozenset[str]) -> None:
        now = asyncio.get_running_loop().time()
        if len(hosts) > self.at_once:
            self._break(f"{len(hosts)} hosts change at once, {self.at_once} may")
        self.canary = self.canary or (now, hosts)
        canary_at, canary = self.canary
        others = hosts - canary
        if others and now - canary_at < self.soak_s:
            self._break(
                f"{_some(others)} change {now - canary_at:.0f} s after the canary began, its soak alone is longer"
            )
        if len(canary) > self.canaries:
            self._break(f"{len(canary)} hosts are first, {self.canaries} may be")

    def _judge_limits(self, working: frozenset[str], model: Model) -> None:
        out = working | {name for name, host in model.hosts.items() if host.drained}
        for kind, amount in self.limits.items():
            counts = Counter(domain for name in out for domain in self.domains[name].get(kind, ()))
            sizes = Counter(domain for each in self.domains.values() for domain in each.get(kind, ()))
            for domain, count in counts.items():
                allowed = at_most(amount, sizes[domain])
                if count > allowed:
                    self._break(f"{count} of {sizes[domain]} hosts of {kind} {domain} are out, {allowed} may be")

    def _break(self, what: str) -> None:
        at_s = asyncio.get_running_loop().time()
        self.broken.append(f"after {at_s / 3600:.2f} h: {what}")


def _some(hosts: Collection[str]) -> str:
    names = sorted(hosts)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")  # noqa: PLR2004
