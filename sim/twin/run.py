"""A twin from its plan to its report: which fabrics run, where, and that nothing of them stays."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from coldaisle.plan import plan_hash
from coldaisle.plan.model import End, FabricPlan, SitePlan
from coldaisle.spec import SiteSpec
from coldaisle.verify import Wanted, wanted
from sim.errors import SimError
from sim.requirements import require_memory, require_programs, require_root
from sim.twin import ethernet, infiniband
from sim.twin.cables import Mistakes, joints
from sim.twin.place import Place, held
from sim.twin.records import TwinReport
from sim.twin.topology import twin_of

DEFAULT_HOSTS_PER_LEAF = 2
SWITCH_MIB = 30
"""Memory of a switch with its daemons, measured with FRR 8.4 (20 to 25 MiB), rounded up."""

PROGRAMS = {
    "ip": "iproute2",
    "nsenter": "util-linux",
    "ping": "iputils-ping",
    "sysctl": "procps",
    "vtysh": "frr",
    "lldpd": "lldpd",
}
IB_PROGRAMS = {"ip": "iproute2", "ibsim": "ibsim-utils", "opensm": "opensm", "ibnetdiscover": "infiniband-diags"}


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: a fabric (left out, every one that can run), hosts a leaf, and mistakes in the cabling."""

    fabric: str | None = None
    hosts_per_leaf: int = DEFAULT_HOSTS_PER_LEAF
    mistakes: Mistakes = field(default_factory=Mistakes)


def run_twins(spec: SiteSpec, plan: SitePlan, request: Request, progress: Callable[[str], None]) -> list[TwinReport]:
    """
    Run the fabrics of a plan one after the other, and return what was found of each.

    Raises:
        SimError: a fabric or a cable is not there, this machine cannot run it, or it runs already.
    """
    require_root()
    cables = wanted(spec, plan)
    names = _names(plan, request)
    return [_run(plan, cables, plan.fabrics[name], request, progress) for name in names]


def _names(plan: SitePlan, request: Request) -> Sequence[str]:
    """Return the fabrics that run: the one that is named, the one whose cables are named, or all that can."""
    if request.fabric is not None:
        if request.fabric not in plan.fabrics:
            have = f"the plan has {', '.join(plan.fabrics)}"
            raise SimError(f"fabric {request.fabric}", "there is no such fabric", have, "name one of these")
        return (request.fabric,)
    known = [name for name, fabric in plan.fabrics.items() if fabric.topology != "single"]
    if request.mistakes.names:
        first = request.mistakes.names[0]
        ends = {f"{end.device}:{end.port}": name for name in known for end in _ends(plan.fabrics[name])}
        if first in ends:
            return (ends[first],)
    if not known:
        have = ", ".join(f"{name}: {fabric.topology}" for name, fabric in plan.fabrics.items())
        raise SimError(plan.name, "no fabric has more than one tier", have, "plan one with the topology leaf-spine")
    return known


def _ends(fabric: FabricPlan) -> Iterator[End]:
    return (end for cable in fabric.cables for end in (cable.a, cable.b))


def _run(
    plan: SitePlan, cables: Wanted, fabric: FabricPlan, request: Request, progress: Callable[[str], None]
) -> TwinReport:
    progress(f"fabric {fabric.name}: {fabric.kind}, {fabric.topology}, {len(fabric.switches)} switches")
    place = Place(plan.name, fabric.name)
    started = time.monotonic()
    prove = _infiniband if fabric.kind == "infiniband" else _ethernet
    report = prove(place, plan, cables, fabric, request, progress)
    return replace(report, plan=plan_hash(plan), times_s={**report.times_s, "all": time.monotonic() - started})


def _ethernet(  # noqa: PLR0913, PLR0917 - the plan in its forms, what is asked for, and where to say how far it is
    place: Place, plan: SitePlan, cables: Wanted, fabric: FabricPlan, request: Request, progress: Callable[[str], None]
) -> TwinReport:
    twin = twin_of(plan, fabric.name, request.hosts_per_leaf)
    joined = joints(twin.fabric.cables, request.mistakes)
    require_programs(PROGRAMS)
    require_memory(len(twin.switches) * SWITCH_MIB, f"{len(twin.switches)} switches")
    with held(place):
        found = ethernet.prove(place, twin, joined, cables, progress)
    return TwinReport(
        site=plan.name,
        fabric=fabric.name,
        kind=fabric.kind,
        plan="",
        checks=tuple(found.checks),
        switches=len(twin.switches),
        hosts=len(twin.hosts),
        hosts_planned=twin.hosts_planned,
        ends="ports of hosts" if any(port.address for port in twin.host_ports) else "loopbacks of leaves",
        times_s=found.times_s,
        memory_mib=found.memory_mib,
        drills=tuple(found.drills),
        not_survived=tuple(found.not_survived),
        cabling=found.cabling.as_json() if found.cabling else {},
    )


def _infiniband(  # noqa: PLR0913, PLR0917 - the same
    place: Place, plan: SitePlan, cables: Wanted, fabric: FabricPlan, request: Request, progress: Callable[[str], None]
) -> TwinReport:
    joined = joints(fabric.cables, request.mistakes)
    require_programs(IB_PROGRAMS)
    of_fabric = replace(cables, cables=tuple(each for each in cables.cables if each.fabric == fabric.name))
    nodes = {joint.a.device for joint in joined} - {switch.name for switch in fabric.switches}
    with held(place):
        netlist = infiniband.netlist_of(fabric, of_fabric, joined)
        infiniband.start(place, netlist, len(joined), len(fabric.switches))
        progress(f"ibsim: {len(joined)} cables between {len(fabric.switches)} switches and {len(nodes)} hosts")
        subnet = infiniband.bring_up(place, fabric.switches[0].name, progress)
    checks, report = infiniband.subnet_checks(fabric, of_fabric, subnet)
    return TwinReport(
        site=plan.name,
        fabric=fabric.name,
        kind=fabric.kind,
        plan="",
        checks=(*checks, ethernet.cabling_check(report)),
        switches=len(fabric.switches),
        hosts=len(nodes),
        hosts_planned=len(nodes),
        ends="adapters",
        times_s={"subnet_up": subnet.up_s},
        cabling=report.as_json(),
    )
