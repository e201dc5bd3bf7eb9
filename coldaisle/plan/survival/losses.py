"""The worst loss of each kind, fabric by fabric, and whether the fabric promises to survive it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from coldaisle.plan.breakout import port_plans
from coldaisle.plan.model import FabricPlan, FacilityPlan, LossKind, LossPlan
from coldaisle.plan.survival.net import Loss, Net, net_of
from coldaisle.plan.survival.outcome import Losses, Outcome
from coldaisle.plan.survival.parts import MOST_TRIED, part_losses
from coldaisle.plan.survival.power import PowerLosses, power_losses
from coldaisle.spec import SiteSpec

ABOVE_THE_LEAVES: tuple[LossKind, ...] = ("uplink", "spine", "core", "feed", "upstream")
"""What a fabric survives by its shape, whatever its nodes."""
AT_THE_NODES: tuple[LossKind, ...] = ("link", "optic", "leaf")
"""What only nodes with ports on several leaves survive."""


def plan_survival(spec: SiteSpec, fabrics: Mapping[str, FabricPlan], facility: FacilityPlan) -> tuple[LossPlan, ...]:
    """
    Return the worst loss of each kind of part that a fabric has, by fabric.

    The utility is left out of the power chain: what takes over for it is a generator, which a site may do without.
    """
    power = power_losses(spec, facility)
    nodes = frozenset(node.name for node in spec.nodes)
    return tuple(loss for fabric in fabrics.values() for loss in _of_fabric(spec, fabric, nodes, power))


def _of_fabric(spec: SiteSpec, fabric: FabricPlan, nodes: Collection[str], power: PowerLosses) -> Iterator[LossPlan]:
    net = net_of(fabric, nodes)
    if not net.links:
        return
    losses, promised = Losses(net), _promised(spec, fabric, net)
    cages: dict[str, dict[str, int]] = {
        role: {port.name: port.cage for port in port_plans(spec.catalog, spec.fabrics[fabric.name], role)}
        for role in dict.fromkeys(switch.role for switch in fabric.switches)
    }
    worst: dict[LossKind, tuple[Outcome, Loss]] = {}
    for kind, loss in (*part_losses(net, fabric, cages), *_of_power(net, power)):
        found = losses.outcome(loss)
        if kind not in worst or found > worst[kind][0]:
            worst[kind] = found, loss
    halves = bool(net.below) and len(net.planes) > 1
    own = net.roles.keys() | net.links.keys()
    for kind, (found, loss) in worst.items():
        yield LossPlan(
            fabric=fabric.name,
            kind=kind,
            part=loss.part,
            hosts_cut_off=found.hosts_cut_off,
            rails_lost=found.rails_lost,
            bisection_left=round(1 - found.bisection_lost, 6) if halves else None,
            promised=kind in promised,
            unknown_devices=len(power.unknown.get(kind, frozenset()) & own),
        )


def _of_power(net: Net, power: PowerLosses) -> Iterator[tuple[LossKind, Loss]]:
    """Yield losses of power that darken devices of a fabric, the largest first; one without any where none does."""
    for kind, losses in power.dark.items():
        own = ((loss, loss.devices & (net.roles.keys() | net.links.keys())) for loss in losses)
        largest = sorted((item for item in own if item[1]), key=lambda item: -len(item[1]))[:MOST_TRIED]
        found = [Loss(loss.part, devices) for loss, devices in largest] or [Loss("")]
        yield from ((kind, loss) for loss in found)


def _promised(spec: SiteSpec, fabric: FabricPlan, net: Net) -> frozenset[LossKind]:
    """Return what a fabric promises: its own words, else what its shape and its nodes' ports allow."""
    asked = spec.fabrics[fabric.name].survives
    if asked is not None:
        return frozenset(asked.loss_of)
    several = all(len({cable.b.device for cable in cables}) > 1 for cables in net.links.values())
    return frozenset(ABOVE_THE_LEAVES + (AT_THE_NODES if several else ()))
