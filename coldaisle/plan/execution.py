"""Which execution node works on which hosts: those of its halls, rack by rack where several serve one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from coldaisle.plan.model import ExecutionNodePlan, ExecutionPlan, FabricPlan, NodePlan
from coldaisle.spec.facility import placed_racks
from coldaisle.spec.sections import SiteSpec


def plan_execution(
    spec: SiteSpec, nodes: Iterable[NodePlan], fabrics: Mapping[str, FabricPlan]
) -> ExecutionPlan | None:
    """
    Return who works on which hosts; None where the site names no execution nodes.

    The racks of a hall go in turn to the nodes that serve it: a rack is never divided, since what fails together is
    changed by one. The provisioner is nobody's: the images that it gets lie on the runner.
    """
    if spec.execution is None:
        return None
    of_rack = dict(_of_racks(spec))
    placed = [(node.name, node.rack) for node in nodes]
    placed += [(switch.name, switch.rack) for fabric in fabrics.values() for switch in fabric.switches if switch.rack]
    return ExecutionPlan(
        nodes=tuple(
            ExecutionNodePlan(
                name=node.name,
                address=node.address,
                port=node.port,
                user=node.user,
                host_key=node.host_key,
                key_file=node.key_file or spec.site.admin_key_file,
                python=node.python,
                halls=tuple(node.halls),
            )
            for node in spec.execution.nodes
        ),
        through={name: of_rack[rack] for name, rack in sorted(placed) if of_rack.get(rack)},
        runner_stands_in=spec.execution.when_lost == "runner",
    )


def _of_racks(spec: SiteSpec) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each rack with its execution nodes in order: those of its hall, each rack beginning with another one."""
    serving: defaultdict[str, list[str]] = defaultdict(list)
    for node in spec.execution.nodes if spec.execution else ():
        for hall in node.halls:
            serving[hall].append(node.name)
    seen: defaultdict[str, int] = defaultdict(int)
    for rack in placed_racks(spec.facility):
        names = serving[rack.hall]
        first = seen[rack.hall] % len(names) if names else 0
        seen[rack.hall] += 1
        yield rack.name, (*names[first:], *names[:first])
