"""Each single failure that the plan survives: down until traffic goes on, up until routes are as planned."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from sim.twin.paths import Failure, touched, watched
from sim.twin.place import Place
from sim.twin.probes import LATE_S, Traffic, packets_over, set_ports
from sim.twin.records import Check, Drill, check, not_run
from sim.twin.routing import Route
from sim.twin.topology import Endpoint, Twin

FLOWS_PER_PATH = 8
"""Flows in one direction for each path, at most: that none of them takes a certain path has a chance of exp(-8)."""
MOST_FLOWS = 512
TRIES = 3
WARM_SWEEPS = 4
QUIET_S = 0.2
"""Traffic has come back when nothing was lost for this time."""
PATIENCE_S = 12.0
"""Longer than FRR's hold time of 9 seconds, after which a session without an answer ends."""
RESTORE_S = 30.0
POLL_S = 0.1
NAMES = {"link": "survives-link", "spine": "survives-spine", "core": "survives-core", "leaf": "survives-leaf"}


@dataclass(frozen=True, slots=True)
class Ground:
    """
    What drills need of a running twin: where it runs, how wide it is, and a look at its routes.

    `lacking` returns the routes that have fewer paths than planned, or more; `involves` the leaves that a route has to
    do with.
    """

    twin: Twin
    place: Place
    width: int
    lacking: Callable[[], Iterable[Route]]
    involves: Callable[[Route], frozenset[str]]


Pair = tuple[Endpoint, Endpoint]


@dataclass(frozen=True, slots=True)
class _Task:
    """A failure to try: the pairs whose traffic is watched, and the leaves whose routes it changes."""

    failure: Failure
    pairs: tuple[Pair, ...]
    touched: frozenset[str]

    @property
    def around(self) -> frozenset[str]:
        """Return all leaves that it has to do with."""
        return self.touched | {each.leaf for pair in self.pairs for each in pair}


@dataclass(frozen=True, slots=True)
class _Pending:
    """A failure that is put back, and whose routes are still coming back."""

    task: _Task
    drill: Drill
    up_at: float


def course(ground: Ground, todo: Sequence[Failure], said: Callable[[int], None]) -> tuple[list[Drill], list[Failure]]:
    """
    Take down and put back one thing after the other; `said` is told how many are done.

    One thing is down at a time. While the routes of one come back, another is tried if neither it nor the traffic that
    is watched for it has to do with the first.

    Returns:
        What was tried, and what no two hosts could talk over.
    """
    tasks = [_task(ground, failure) for failure in todo]
    skipped = [task.failure for task in tasks if not task.pairs]
    waiting, pending = [task for task in tasks if task.pairs], list[_Pending]()
    done: list[Drill] = []
    while waiting or pending:
        ready = next((task for task in waiting if not any(task.around & each.task.touched for each in pending)), None)
        if ready is None:
            time.sleep(POLL_S)
        else:
            waiting.remove(ready)
            pending.append(_try(ground, ready))
        pending, back = _settle(ground, pending)
        done += back
        if back:
            said(len(done) + len(skipped))
    return done, skipped


def _task(ground: Ground, failure: Failure) -> _Task:
    fabric = ground.twin.fabric
    return _Task(failure, watched(fabric, failure, ground.twin.endpoints), touched(fabric, failure))


def _settle(ground: Ground, pending: Sequence[_Pending]) -> tuple[list[_Pending], list[Drill]]:
    """Return what is still coming back, and what has come back or took too long."""
    if not pending:
        return [], []
    lacking = [ground.involves(route) for route in ground.lacking()]
    now = time.monotonic()
    still, back = [], []
    for each in pending:
        own = each.task.touched
        others = frozenset[str]().union(*(other.task.touched for other in pending if other is not each))
        if not any(leaves & own and not leaves & others for leaves in lacking):
            back.append(replace(each.drill, restored_ms=(now - each.up_at) * 1000))
        elif now - each.up_at > RESTORE_S:
            back.append(each.drill)
        else:
            still.append(each)
    return still, back


def _try(ground: Ground, task: _Task) -> _Pending:
    """Take something down under traffic, and put it back."""
    ends = [(_at(ground, one), _at(ground, two)) for one, two in task.pairs]
    for _ in range(TRIES):
        traffic = Traffic(ends, _flows_each(ground, task.pairs))
        try:
            crossed = _warm_up(ground, task.failure, traffic)
            if crossed or task.failure.kind == "leaf":
                return _Pending(task, *_down_and_up(ground, task.failure, traffic, crossed))
        finally:
            traffic.close()
    nothing = Drill(task.failure.kind, task.failure.name, 0, 0, None, None, 0, 0)
    return _Pending(task, nothing, time.monotonic())


def _at(ground: Ground, endpoint: Endpoint) -> tuple[str, str]:
    return ground.place.namespace(endpoint.device), endpoint.address


def _flows_each(ground: Ground, pairs: Sequence[object]) -> int:
    wanted = FLOWS_PER_PATH * max(1, ground.width)
    return max(4, min(wanted, MOST_FLOWS) // (2 * len(pairs)))


def _warm_up(ground: Ground, failure: Failure, traffic: Traffic) -> int:
    """Send a few packets, and return how many of them crossed what is about to fail."""
    traffic.sweep()
    before = _crossings(ground, failure)
    for _ in range(WARM_SWEEPS):
        traffic.sweep()
    crossed = _crossings(ground, failure) - before
    # Less than a packet a sweep is BGP's own.
    return crossed if crossed >= WARM_SWEEPS else 0


def _crossings(ground: Ground, failure: Failure) -> int:
    return sum(packets_over(ground.place.namespace(device), ports) for device, ports in _own_ports(failure).items())


def _own_ports(failure: Failure) -> dict[str, list[str]]:
    """Return the ports to turn off: those of the device that fails, or the lower end of a cable."""
    ports: defaultdict[str, list[str]] = defaultdict(list)
    for cable in failure.cables:
        end = cable.b if cable.b.device == failure.device else cable.a
        ports[end.device].append(end.port)
    return dict(ports)


def _down_and_up(ground: Ground, failure: Failure, traffic: Traffic, crossed: int) -> tuple[Drill, float]:
    """Return what happened to traffic while something was down, and when it was put back."""
    traffic.forget()
    down_at = time.monotonic()
    _switch(ground, failure, up=False)
    came_back = _until_quiet(traffic, down_at)
    lost = [times for flow in traffic.flows if (times := flow.lost_at(time.monotonic()))]
    outage = max((times[-1] + traffic.interval_s - down_at for times in lost), default=0.0)
    _switch(ground, failure, up=True)
    seen = Drill(
        kind=failure.kind,
        name=failure.name,
        flows=len(traffic.flows),
        hit=len(lost),
        outage_ms=outage * 1000 if came_back else None,
        restored_ms=None,
        resolution_ms=traffic.interval_s * 1000,
        crossed=crossed,
    )
    return seen, time.monotonic()


def _switch(ground: Ground, failure: Failure, *, up: bool) -> None:
    for device, ports in _own_ports(failure).items():
        set_ports(ground.place.namespace(device), ports, up=up)


def _until_quiet(traffic: Traffic, since: float) -> bool:
    """Send until nothing was lost for a while; False when that does not come."""
    while (now := time.monotonic()) - since < PATIENCE_S:
        traffic.sweep()
        last = max((flow.lost_at(now)[-1] for flow in traffic.flows if flow.lost_at(now)), default=since)
        if now - last > QUIET_S + LATE_S:
            return True
    return False


def verdicts(drills: Sequence[Drill], skipped: Sequence[Failure]) -> tuple[Check, ...]:
    """Return a check for each kind of failure."""
    kinds = dict.fromkeys([*(each.kind for each in drills), *(each.kind for each in skipped)])
    return tuple(_verdict(kind, [one for one in drills if one.kind == kind], skipped) for kind in kinds)


def _verdict(kind: str, drills: Sequence[Drill], skipped: Sequence[Failure]) -> Check:
    name = NAMES[kind]
    idle = [one.name for one in skipped if one.kind == kind] + [one.name for one in drills if not one.flows]
    ran = [one for one in drills if one.flows]
    wanted = f"traffic survives {len(ran) + len(idle)} of {len(ran) + len(idle)}, and each is put back"
    if idle:
        why = f"no traffic crosses {len(idle)} of {len(ran) + len(idle)}: {', '.join(idle[:3])}"
        return not_run(name, wanted, why)
    bad = [one for one in ran if one.outage_ms is None or one.restored_ms is None]
    seen = f"traffic survives {len(ran) - len(bad)} of {len(ran)}, and each is put back"
    return check(name, wanted, seen, tuple(_complaint(one) for one in bad))


def _complaint(one: Drill) -> str:
    if one.outage_ms is None:
        return f"{one.name}: {one.hit} of {one.flows} flows did not come back within {PATIENCE_S:.0f} s"
    return f"{one.name}: routes were not as planned {RESTORE_S:.0f} s after it was put back"
