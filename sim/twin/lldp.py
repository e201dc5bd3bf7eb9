"""Who is at the other end of each cable: lldpd on every device, read and compared as a real site's would be."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from coldaisle.plan.model import End
from coldaisle.verify import Answer, CablingReport, Neighbour, Told, Wanted, compare, read
from sim.shell import find, run
from sim.twin.place import Place
from sim.twin.switches import beside
from sim.twin.topology import Twin

INTERVAL_S = 2
HOLD = 30
"""Frames that may be lost before a neighbour is forgotten: on a busy machine they come late."""
POLL_S = 0.5
PATIENCE_S = 30.0
SETTLED_S = 3.0
"""Answers that have not changed for this time (more than a frame's interval) are not expected to change any more."""

# A folder of its own in place of /run: lldpd's socket and its empty root are below it, and stay nobody else's.
_IN_ITS_RUN = 'mount --bind "$0" /run && exec "$@"'


def start(place: Place, devices: Iterable[str]) -> None:
    """Start lldpd on every device; its name is the device's, its ports are named as interfaces are."""
    program = find("lldpd", "lldpd")
    groups = place.groups

    def one(device: str) -> None:
        folder = place.folder / "lldp" / device
        folder.mkdir(parents=True)
        lines = (f"system hostname {device}", f"lldp tx-interval {INTERVAL_S}", f"lldp tx-hold {HOLD}")
        (folder / "lldpd.conf").write_text(
            "".join(f"configure {line}\n" for line in (*lines, "lldp portidsubtype ifname"))
        )
        words = ["unshare", "--mount", "sh", "-c", _IN_ITS_RUN, str(folder), program, "-d"]
        words += ["-u", "/run/lldpd.socket", "-O", "/run/lldpd.conf"]
        groups.start(f"{device}-lldpd", words, place.logs / f"{device}-lldpd.log", namespace=place.namespace(device))

    beside(one, devices)


def stop(place: Place, devices: Iterable[str]) -> None:
    """End lldpd everywhere: what comes later needs the processor more."""
    groups = place.groups
    beside(lambda device: groups.stop(f"{device}-lldpd", grace_s=0), devices)


def cabling(place: Place, twin: Twin, wanted: Wanted) -> CablingReport:
    """Return what all neighbours say of the cables, once it is as planned or does not change any more."""
    started = changed = time.monotonic()
    seen = -1
    while True:
        report = compare(wanted, answers(place, twin))
        now = time.monotonic()
        if report.as_planned != seen:
            seen, changed = report.as_planned, now
        settled = seen > 0 and now - changed > SETTLED_S
        if report.as_planned == report.planned or settled or now - started > PATIENCE_S:
            return report
        time.sleep(POLL_S)


def answers(place: Place, twin: Twin) -> list[Answer]:
    """Return what each device tells, with ports as the plan names them."""
    program = find("lldpctl", "lldpd")

    def one(device: str) -> Answer:
        socket = place.folder / "lldp" / device / "lldpd.socket"
        said = run([program, "-u", socket, "-f", "json"], check=False).stdout
        return as_planned(read((said or "{}").encode() if said else b"", device, device), twin.planned)

    return beside(one, (*twin.switches, *twin.hosts))


def as_planned(answer: Answer, planned: Mapping[End, End]) -> Answer:
    """Return an answer whose ports have the plan's names instead of the kernel's."""

    def port(told: Told) -> Told:
        names = (planned.get(End(device=told.name or "", port=name)) for name in told.ports)
        return replace(told, ports=(*(end.port for end in names if end), *told.ports))

    return replace(
        answer, neighbours=tuple(Neighbour(port(each.local), port(each.remote)) for each in answer.neighbours)
    )


def of_twin(wanted: Wanted, twin: Twin) -> Wanted:
    """Return what of the plan's cables runs in a twin."""
    running = {twin.planned[cable.a] for cable in twin.fabric.cables}
    cables = tuple(each for each in wanted.cables if each.fabric == twin.fabric.name and each.plan.a in running)
    return replace(wanted, cables=cables)
