"""What a picture of a fabric shows, before it is drawn: tiers, groups of leaves by rail, and bundles of cables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from coldaisle.plan.model import CablePlan, FabricPlan, SwitchPlan
from coldaisle.render.fabric.domains import Domain, tiers_of


@dataclass(frozen=True, slots=True)
class Bundle:
    """Cables between two parts of a fabric: how many, and their rates."""

    count: int
    rates_gbps: tuple[float, ...]

    @property
    def label(self) -> str:
        """Return a bundle as people read it: `256 x 400G`, with every rate that it has."""
        return f"{self.count} x {'/'.join(f'{rate:g}G' for rate in self.rates_gbps)}"


@dataclass(frozen=True, slots=True)
class Group:
    """Leaves that share their nodes, in the order of planes and rails, with the bundles on both sides."""

    name: str
    leaves: tuple[SwitchPlan, ...]
    devices: tuple[str, ...]
    down: Bundle
    up: Bundle | None


@dataclass(frozen=True, slots=True)
class Pod:
    """Spines that share their groups; a fabric without spines is one pod of groups alone."""

    name: str
    spines: tuple[SwitchPlan, ...]
    groups: tuple[Group, ...]
    up: Bundle | None


@dataclass(frozen=True, slots=True)
class Parts:
    """A fabric in its parts. `down` and `up` count the cables of each switch."""

    fabric: FabricPlan
    cores: tuple[SwitchPlan, ...]
    pods: tuple[Pod, ...]
    down: Counter[str]
    up: Counter[str]

    @property
    def leaves(self) -> int:
        """Count the switches that devices hang on."""
        return sum(len(group.leaves) for pod in self.pods for group in pod.groups)


def parts_of(fabric: FabricPlan) -> Parts:
    """Return a fabric in its parts; whatever hangs on its leaves counts as a device, switches of other fabrics too."""
    own = {switch.name: switch for switch in fabric.switches}
    below = dict.fromkeys(cable.a.device for cable in fabric.cables if cable.a.device not in own)
    tiers = tiers_of(fabric, below)
    lower, upper = _ends(fabric.cables, own)
    groups = {domain.name: _group(domain, own, lower, upper) for domain in (tiers[0] if tiers else ())}
    pods = [_pod(domain, own, groups, upper) for domain in (tiers[1] if len(tiers) > 1 else ())]
    if not pods:
        pods = [Pod(fabric.name, (), tuple(groups.values()), None)]
    return Parts(
        fabric,
        tuple(switch for switch in fabric.switches if switch.role == "core"),
        tuple(pods),
        Counter({name: len(cables) for name, cables in lower.items()}),
        Counter({name: len(cables) for name, cables in upper.items()}),
    )


Cabled = defaultdict[str, list[CablePlan]]


def _ends(cables: Iterable[CablePlan], own: dict[str, SwitchPlan]) -> tuple[Cabled, Cabled]:
    """Return the cables below and above each switch."""
    lower: Cabled = defaultdict(list)
    upper: Cabled = defaultdict(list)
    for cable in cables:
        lower[cable.b.device].append(cable)
        if cable.a.device in own:
            upper[cable.a.device].append(cable)
    return lower, upper


def _bundle(names: Iterable[str], cabled: Cabled) -> Bundle | None:
    cables = [cable for name in names for cable in cabled[name]]
    return Bundle(len(cables), tuple(sorted({cable.rate_gbps for cable in cables}))) if cables else None


def _group(domain: Domain, own: dict[str, SwitchPlan], lower: Cabled, upper: Cabled) -> Group:
    leaves = sorted((own[name] for name in domain.switches), key=lambda leaf: (leaf.plane or 0, leaf.rail or 0))
    down = _bundle(domain.switches, lower) or Bundle(0, ())
    return Group(domain.name, tuple(leaves), domain.nodes, down, _bundle(domain.switches, upper))


def _pod(domain: Domain, own: dict[str, SwitchPlan], groups: dict[str, Group], upper: Cabled) -> Pod:
    spines = tuple(own[name] for name in domain.switches)
    return Pod(domain.name, spines, tuple(groups[name] for name in domain.children), _bundle(domain.switches, upper))
