"""A routed fabric in FRR, phase by phase: cables, switches, sessions, routes, traffic, and single failures."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address

from coldaisle.plan.model import End
from coldaisle.verify import CablingReport, Wanted
from sim.kernel_room import Need, require_room
from sim.network import connect
from sim.shell import find, run
from sim.twin import lldp, switches
from sim.twin.cables import Joint
from sim.twin.drills import Ground, course, verdicts
from sim.twin.features import feature_checks
from sim.twin.paths import failures, survives
from sim.twin.place import Place
from sim.twin.reach import asks, lost_pairs, mtu_check, reach_checks
from sim.twin.records import Check, Drill, check, not_run
from sim.twin.routing import (
    Route,
    Session,
    differing,
    leaf_networks,
    overlay_check,
    paths_check,
    planned_overlay_sessions,
    planned_paths,
    planned_sessions,
    sessions_check,
)
from sim.twin.topology import Twin
from sim.twin.wires import host_commands, mtus, wiring_of

POLL_S = 0.5
CONVERGE_S = 60.0
HOPELESS_S = 3.0
"""The same for routes, where a cable is known to be wrong: announcements take milliseconds."""
SETTLED_S = 12.0
"""What has not changed for this time does not: FRR tries again after 10 seconds (its data center profile)."""


@dataclass(slots=True)
class Found:
    """What is found, as it grows: checks, cabling, seconds by phase, and drills."""

    checks: list[Check] = field(default_factory=list)
    cabling: CablingReport | None = None
    times_s: dict[str, float] = field(default_factory=dict)
    memory_mib: float | None = None
    drills: list[Drill] = field(default_factory=list)
    not_survived: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Tell whether nothing failed yet."""
        return all(each.status != "failed" for each in self.checks)


def prove(place: Place, twin: Twin, joined: Sequence[Joint], wanted: Wanted, progress: Callable[[str], None]) -> Found:
    """Run a fabric and check everything that was planned of it."""
    found = Found()
    texts = switches.configurations(twin)
    _wire(place, twin, joined, progress)
    lldp.start(place, (*twin.switches, *twin.hosts))
    started = time.monotonic()
    said = switches.start(place, texts)
    found.times_s["start"] = time.monotonic() - started
    progress(f"switches: {len(said)} run with their configurations, {len(twin.hosts)} of {twin.hosts_planned} hosts")
    found.checks.append(_taken(said))
    _cabling(place, twin, wanted, found, progress)
    _routing(place, twin, found, progress)
    _traffic(place, twin, joined, found, progress)
    found.checks += feature_checks(texts)
    _drills(place, twin, found, progress)
    return found


def _wire(place: Place, twin: Twin, joined: Sequence[Joint], progress: Callable[[str], None]) -> None:
    require_room(need_of(twin), "run fewer hosts a leaf")
    made = connect(place.prefix, wiring_of(twin, joined))
    ip = find("ip", "iproute2")
    family = f"-{ip_address(twin.endpoints[0].address).version}" if twin.endpoints else "-4"
    for host, commands in host_commands(twin.host_ports, joined).items():
        text = "".join(f"{line}\n" for line in commands)
        run([ip, family, "-n", place.namespace(host), "-batch", "-"], stdin=text)
    progress(f"cables: {made} between {len(twin.switches)} switches and {len(twin.hosts)} hosts")


def need_of(twin: Twin) -> Need:
    """Return what a fabric needs of the kernel: a neighbour at either end of a cable, and one an endpoint."""
    return Need(2 * len(twin.fabric.cables) + len(twin.endpoints))


def _taken(said: Mapping[str, str]) -> Check:
    """Compare how many switches took their configuration without a word."""
    words = f"of {len(said)} switches took their configuration whole"
    bad = {name: text for name, text in said.items() if text}
    details = tuple(f"{name}: {text.splitlines()[0]}" for name, text in bad.items())
    return check("configuration", f"{len(said)} {words}", f"{len(said) - len(bad)} {words}", details)


def _cabling(place: Place, twin: Twin, wanted: Wanted, found: Found, progress: Callable[[str], None]) -> None:
    report = lldp.cabling(place, twin, lldp.of_twin(wanted, twin))
    found.memory_mib = _memory_mib(place)  # the most that ever runs: lldpd is ended here
    lldp.stop(place, (*twin.switches, *twin.hosts))
    found.cabling = report
    found.checks.append(cabling_check(report))
    progress(f"neighbours: {report.as_planned} of {report.planned} cables are where they should be")


def _memory_mib(place: Place) -> float:
    """Return the memory of all processes of a twin, with what they share counted once."""
    groups = place.groups
    return sum(groups.memory_bytes(name) for name in groups.names()) / 2**20


def cabling_check(report: CablingReport) -> Check:
    """Return the check of cables: each is where the plan has it, as both its ends say."""
    words = f"of {report.planned} cables are where the plan has them"
    details = tuple(f"{one.kind}: {one.what}; {one.fix}" for one in report.findings)
    details += tuple(f"could not tell {one.a.device}:{one.a.port}: {one.reason}" for one in report.unknown)
    seen = f"{report.as_planned} {words}"
    if report.unknown and not report.findings:
        why = f"{seen}, {len(report.unknown)} could not be told"
        return replace(not_run("cables", f"{report.planned} {words}", why), details=details)
    return check("cables", f"{report.planned} {words}", seen, details)


# -- routing ----------------------------------------------------------------------------------------------------
def _version(twin: Twin) -> int:
    return ip_address(str(twin.fabric.switches[0].loopback)).version


def _routing(place: Place, twin: Twin, found: Found, progress: Callable[[str], None]) -> None:
    started = time.monotonic()
    wanted = planned_sessions(twin)
    overlay = planned_overlay_sessions(twin)
    hopeless = _hopeless(found)
    awaited = {key for key, joint in wanted.items() if twin.planned[joint.a] not in hopeless}
    seen = _settled_sessions(place, twin, awaited if hopeless else awaited | overlay.keys())
    found.checks.append(sessions_check(wanted, seen))
    if overlay:
        found.checks.append(overlay_check(overlay, seen))
    answer = _settled_paths(place, twin, HOPELESS_S if hopeless else SETTLED_S)
    found.checks.append(answer)
    found.times_s["converge"] = found.times_s["start"] + time.monotonic() - started
    found.memory_mib = max(found.memory_mib or 0, _memory_mib(place))
    progress(f"routing: {answer.seen}, {found.times_s['converge']:.1f} s after the first switch was started")


def _hopeless(found: Found) -> frozenset[End]:
    """Return the ends of cables that are known not to be as planned: nobody need wait for their sessions."""
    findings = found.cabling.findings if found.cabling else ()
    return frozenset(end for one in findings for cable in one.cables for end in cable)


def _settled_sessions(place: Place, twin: Twin, awaited: Collection[Session]) -> dict[Session, str]:
    """Return the sessions once all that can be up are up, or once nothing changes any more."""
    started = changed = time.monotonic()
    last: dict[Session, str] = {}
    while True:
        seen = switches.sessions(place, twin.switches)
        now = time.monotonic()
        if seen != last:
            last, changed = seen, now
        up = {key for key, state in seen.items() if state == "Established"}
        if up.issuperset(awaited) or now - changed > SETTLED_S or now - started > CONVERGE_S:
            return seen
        time.sleep(POLL_S)


def _settled_paths(place: Place, twin: Twin, settled_s: float) -> Check:
    """Return the check of routes once they are as planned, or once nothing changes any more."""
    wanted = planned_paths(twin)
    changed, last = time.monotonic(), ""
    while True:
        answer = paths_check(wanted, switches.routes(place, twin.switches, _version(twin)))
        now = time.monotonic()
        if answer.seen != last:
            last, changed = answer.seen, now
        if answer.status == "passed" or now - changed > settled_s:
            return answer
        time.sleep(POLL_S)


# -- traffic ----------------------------------------------------------------------------------------------------
def _traffic(place: Place, twin: Twin, joined: Sequence[Joint], found: Found, progress: Callable[[str], None]) -> None:
    started = time.monotonic()
    sizes = mtus(twin)
    found.checks.append(mtu_check(place, {end: sizes[end] for joint in joined for end in (joint.a, joint.b)}))
    wanted = asks(twin.endpoints)
    answers = reach_checks(twin.endpoints, lost_pairs(place, wanted))
    found.checks += answers
    found.times_s["reach"] = time.monotonic() - started
    progress(f"reach: {'; '.join(each.seen for each in answers)}")


def _drills(place: Place, twin: Twin, found: Found, progress: Callable[[str], None]) -> None:
    every = list(failures(twin.fabric, twin.endpoints))
    todo = [one for one in every if survives(twin.fabric, one)]
    found.not_survived += [f"{one.kind} {one.name}" for one in every if one not in todo]
    if not found.clean:
        why = "a fabric that is not as planned proves nothing of single failures"
        words = f"traffic survives {len(todo)} of {len(todo)}, and each is put back"
        found.checks.append(not_run("survives", words, why))
        return
    started = time.monotonic()
    tried = course(_ground(place, twin), todo, lambda done: _tell(done, len(todo), progress))
    found.drills += tried[0]
    found.checks += verdicts(*tried)
    found.times_s["failures"] = time.monotonic() - started


def _tell(done: int, of: int, progress: Callable[[str], None]) -> None:
    if done % 10 == 0 or done == of:
        progress(f"failures: {done} of {of}")


def _ground(place: Place, twin: Twin) -> Ground:
    """Return what drills need: the planned paths against the kernel's, and the leaves of each route."""
    paths = planned_paths(twin)
    leaves = {switch.name for switch in twin.fabric.switches if switch.role == "leaf"}
    owner = {network: leaf for leaf, own in leaf_networks(twin).items() for network in own}

    def lacking() -> list[Route]:
        return differing(paths, switches.routes(place, twin.switches, _version(twin)))

    def involves(route: Route) -> frozenset[str]:
        return frozenset({owner[route[1]], *({route[0]} & leaves)})

    return Ground(twin, place, max(paths.values(), default=1), lacking, involves)
