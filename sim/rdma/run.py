"""Two nodes of a plan from power-on to a report: booted, settled by the playbooks, and asked to move data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from coldaisle.paths import cache_dir
from coldaisle.plan import plan_hash
from coldaisle.plan.model import SitePlan
from sim.errors import SimError
from sim.image.extended import ensure_extended
from sim.machines import GUEST_MEMORY_MIB
from sim.rdma import checks
from sim.rdma.cut import BOOT_TIMEOUT_S, Files, cut
from sim.rdma.guests import Guest, connect, guests, prepare, switch_on
from sim.rdma.image import IMAGE
from sim.rdma.mistakes import Mistakes, make
from sim.rdma.place import Lab
from sim.rdma.planned import Endpoint, choose
from sim.rdma.plays import run_plays
from sim.rdma.readings import Reading, read
from sim.rdma.records import RdmaReport
from sim.rdma.traffic import Side, Transfer, pings, rping, send_by_index, write_by_cm
from sim.rdma.watch import Watch
from sim.rdma.wires import Cables, lay, outer
from sim.requirements import require_memory, require_programs, require_root
from sim.site import DEFAULT_IMAGE
from sim.twin.place import held
from sim.twin.records import Check, not_run
from sim.twin.switches import beside

PROGRAMS = {
    "ip": "iproute2",
    "nsenter": "util-linux",
    "mkfs.ext4": "e2fsprogs",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "qemu-system-x86_64": "qemu-system-x86",
    "systemd-nspawn": "systemd-container",
}
PLAYBOOKS = ("os", "rdma")
LEFT_OUT = ("other ports and fabrics", "switches", "huge pages", "virtual functions", "GPUs", "BMC", "cluster")
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: two nodes (left out, the first two that can), and mistakes."""

    nodes: tuple[str, ...] = ()
    mistakes: Mistakes = field(default_factory=Mistakes)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two nodes that run: where, the part of the plan that they are, their ends, and how they are asked."""

    lab: Lab
    plan: SitePlan
    ends: tuple[Endpoint, Endpoint]
    guests: tuple[Guest, ...]

    def watch(self) -> Watch:
        """Return a look at the cables of the bond, outside of the guests."""
        node, bond = self.plan.nodes[0], self.ends[0].bond
        ports = [outer(node, nic) for nic in node.nics if nic.name in bond.ports]
        return Watch(self.lab.namespace(node.name), ports)


def run_pair(plan: SitePlan, request: Request, progress: Progress) -> RdmaReport:
    """
    Run two nodes of a plan, and return what was found.

    Raises:
        SimError: the plan has no such nodes, this machine cannot run them, or they run already.
    """
    started = time.monotonic()
    with running(plan, request.nodes, progress) as pair:
        _require_ports(request.mistakes, pair.ends[0])
        found = [*settle(pair, progress)]
        settled = time.monotonic() - started
        make(request.mistakes, pair.lab, pair.plan.nodes[0], pair.guests[0])
        ready = all(each.status == "passed" for each in found)
        shown, transfers = prove(pair, progress) if ready else ([_unsettled()], [])
    return RdmaReport(
        site=plan.name,
        plan=plan_hash(plan),
        nodes=(pair.ends[0].host, pair.ends[1].host),
        network=pair.ends[0].network,
        checks=(*found, *shown),
        rates_mib_s={one.name: one.mib_s for one in transfers if one.mib_s is not None},
        times_s={"settled after": settled, "all": time.monotonic() - started},
        left_out=LEFT_OUT,
    )


def settle(pair: Pair, progress: Progress) -> Iterator[Check]:
    """Wait until both guests have booted, and run the playbooks on them."""
    last = connect(pair.lab, pair.guests, BOOT_TIMEOUT_S)
    yield checks.boot_check([guest.name for guest in pair.guests], last)
    progress(f"{sum(1 for each in last if each is None)} of {len(last)} guests have booted")
    if any(last):
        yield not_run("plays", f"{' and '.join(PLAYBOOKS)} end well", "a guest did not boot")
        return
    found = checks.plays_check(PLAYBOOKS, run_plays(pair.lab, pair.plan, PLAYBOOKS))
    progress(found.seen)
    yield found


def _unsettled() -> Check:
    return not_run("traffic", "the planned traffic is moved", "the hosts are not settled")


def _require_ports(mistakes: Mistakes, end: Endpoint) -> None:
    for name in (*mistakes.short_cables, *mistakes.host_mtus):
        if name not in end.bond.ports:
            have = f"{end.bond.name} has {', '.join(end.bond.ports)}"
            raise SimError(f"port {name}", "it is not in the bond", have, "name one of these")


@contextmanager
def running(plan: SitePlan, nodes: tuple[str, ...], progress: Progress) -> Iterator[Pair]:
    """Let two nodes run while the caller works; nothing of them stays, whatever happens."""
    require_root()
    ends = choose(plan, nodes)
    require_programs(PROGRAMS)
    require_memory(2 * GUEST_MEMORY_MIB, "two guests")
    image, folder = ensure_extended(cache_dir() / "images", DEFAULT_IMAGE, IMAGE, progress)
    lab, cables = Lab(plan.name), Cables(ends[0].bond.ports)
    part = cut(plan, {end.host: end.bond.ports for end in ends}, Files(lab.state.ssh_key, folder))
    with held(lab):
        prepare(lab)
        lay(lab, part, cables)
        switch_on(lab, part, cables, image.layers)
        progress(f"{ends[0].host} and {ends[1].host}: turned on, {len(cables.ports)} cables between them")
        yield Pair(lab, part, ends, guests(lab, part))


def prove(pair: Pair, progress: Progress) -> tuple[list[Check], list[Transfer]]:
    """Look at both guests, and let them talk; what needs something that failed is not run."""
    seen = list(zip(pair.ends, beside(read, pair.guests), strict=True))
    found = [checks.bond_check(seen), checks.mtu_check(seen), checks.rdma_mtu_check(seen), checks.gid_check(seen)]
    sides = [_side(guest, end, reading) for guest, (end, reading) in zip(pair.guests, seen, strict=True)]
    watch = pair.watch()
    with watch:
        answered = beside(lambda way: pings(*way), (tuple(sides), tuple(reversed(sides))))
    found += checks.peer_check(answered, seen, watch.frames)
    progress(f"{sum(answered)} pings answered")
    blocked = next((one.name for one in found if one.status == "failed" and one.name in checks.GROUND), None)
    transfers: list[Transfer] = []
    for name, move in (("rping", rping), ("ib_write_bw", write_by_cm), ("ib_send_bw", send_by_index)):
        if blocked is not None:
            found.append(not_run(name, "both ends end well", f"{blocked} failed"))
            continue
        transfers.append(move(sides[1], sides[0], pair.watch()))
        found += checks.transfer_checks(transfers[-1], seen)
        progress(f"{name}: {len(transfers[-1].frames)} packets of RoCE seen on the cables")
    return found, transfers


def _side(guest: Guest, end: Endpoint, reading: Reading) -> Side:
    gid = checks.planned_gid(end, reading)
    return Side(guest, end, reading.devices.get(end.device, ""), gid.index if gid else None)
