"""What was planned against what was seen of two guests: one check for each promise. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sim.rdma.frames import Frame
from sim.rdma.planned import Endpoint
from sim.rdma.plays import PlayResult
from sim.rdma.readings import ROCE_V2, Gid, Reading
from sim.rdma.traffic import PINGS, Transfer
from sim.twin.records import Check, check, not_run

HASHES_OF_FLOWS = ("layer3+4", "encap3+4")
"""Policies of bonds that tell flows between two hosts apart (Linux, bonding documentation, xmit_hash_policy)."""

GROUND = ("rdma-mtu", "gid", "mtu-peer")
"""Checks without which no program of RDMA traffic can end well."""

Ends = Sequence[tuple[Endpoint, Reading]]


def boot_check(hosts: Sequence[str], last: Sequence[str | None]) -> Check:
    """Return whether hosts booted; `last` is what each said last when it did not."""
    said = "hosts boot over the network and answer SSH"
    good = sum(1 for each in last if each is None)
    details = tuple(f"{host}: {each}" for host, each in zip(hosts, last, strict=True) if each is not None)
    return check("boot", f"{len(hosts)} of {len(hosts)} {said}", f"{good} of {len(hosts)} {said}", details)


def plays_check(playbooks: Sequence[str], results: Sequence[PlayResult]) -> Check:
    """Return whether the playbooks ended well on both hosts."""
    said = f"{' and '.join(playbooks)} end well on"
    good = sum(1 for one in results if one.failure is None)
    details = tuple(f"{one.host}: {one.failure}" for one in results if one.failure is not None)
    return check(
        "plays", f"{said} {len(results)} of {len(results)} hosts", f"{said} {good} of {len(results)} hosts", details
    )


def bond_check(ends: Ends) -> Check:
    """Return whether every member is up in one aggregate, and the partner is the other host."""
    macs = [one.links.get(end.bond.name, {}).get("address") for end, one in ends]
    details: list[str] = []
    for (end, seen), partner in zip(ends, reversed(macs), strict=True):
        bond = end.bond
        info = seen.info(bond.name)
        told = info.get("ad_info", {})
        if info.get("mode") != bond.mode:
            details.append(f"{end.host}: {bond.name} should be {bond.mode} and is {info.get('mode', 'not there')}")
        elif (told.get("num_ports"), told.get("partner_mac")) != (len(bond.ports), partner):
            details.append(f"{end.host}: {told.get('num_ports')} ports with partner {told.get('partner_mac')}")
        down = [port for port in bond.ports if seen.info(port, "info_slave_data").get("mii_status") != "UP"]
        details += [f"{end.host}: {port} is not up in {bond.name}" for port in down]
    return _of_two("bond", "hosts have all members in one LACP aggregate with the other", ends, details)


def mtu_check(ends: Ends) -> Check:
    """Compare the MTU of ports, bond and VLAN with the plan's."""
    wanted = [(end.host, port, mtu, seen.mtu(port)) for end, seen in ends for port, mtu in end.layers.items()]
    bad = [
        f"{host}:{port} should have {mtu} bytes and has {has or 'no link'}"
        for host, port, mtu, has in wanted
        if mtu != has
    ]
    said = "ports, bonds and VLANs have the planned MTU"
    return check(
        "mtu", f"{len(wanted)} of {len(wanted)} {said}", f"{len(wanted) - len(bad)} of {len(wanted)} {said}", tuple(bad)
    )


def rdma_mtu_check(ends: Ends) -> Check:
    """Compare the active MTU of the RDMA devices with the largest that fits into the planned one."""
    wanted = {end.rdma_mtu for end, _ in ends}
    seen = [(end.host, one.rdma_mtus.get(one.devices.get(end.device, ""))) for end, one in ends]
    return check(
        "rdma-mtu",
        f"active MTU {_listed(wanted)}",
        f"active MTU {_listed({mtu or 'none' for _, mtu in seen})}",
        tuple(f"{host}: {mtu or 'no RDMA device'}" for host, mtu in seen if mtu not in wanted),
    )


def planned_gid(end: Endpoint, seen: Reading) -> Gid | None:
    """Return the entry that RoCE v2 traffic of the planned address has to name."""
    wanted = (seen.devices.get(end.device), end.address, ROCE_V2, end.interface)
    return next((gid for gid in seen.gids if (gid.device, gid.address, gid.kind, gid.interface) == wanted), None)


def gid_check(ends: Ends) -> Check:
    """Return whether each table has the planned address as RoCE v2, on the VLAN's interface."""
    found = [(end, seen, planned_gid(end, seen)) for end, seen in ends]
    details = [
        f"{end.host}: {end.address} is RoCE v2 at index {gid.index} of {gid.device} ({gid.interface})"
        if gid
        else f"{end.host}: {end.address} on {end.interface} is not in the table ({_table(seen.gids)})"
        for end, seen, gid in found
    ]
    good = sum(1 for _, _, gid in found if gid)
    said = "GID tables have the planned address as RoCE v2 on the VLAN"
    return check("gid", f"{len(ends)} of {len(ends)} {said}", f"{good} of {len(ends)} {said}", tuple(details))


def peer_check(answered: Sequence[int], ends: Ends, frames: Sequence[Frame]) -> tuple[Check, Check]:
    """Return whether full-size pings were answered, and whether every cable of the bond carried some of them."""
    total, good = PINGS * len(answered), sum(answered)
    size = min(end.mtu_bytes for end, _ in ends)
    said = f"pings of {size} bytes that may not be cut are answered"
    first = check("mtu-peer", f"{total} of {total} {said}", f"{good} of {total} {said}")
    bond = ends[0][0].bond
    on = Counter(frame.cable for frame in frames if frame.echo and frame.length >= size)
    wanted = f"{len(bond.ports)} of {len(bond.ports)} cables carry packets of {size} bytes"
    if bond.hash_policy not in HASHES_OF_FLOWS:
        why = f"{bond.hash_policy} sends all packets between two hosts over one cable"
        return first, not_run("mtu-cables", wanted, why)
    return first, check("mtu-cables", wanted, f"{len(on)} of {len(bond.ports)} cables carry packets of {size} bytes")


def transfer_checks(transfer: Transfer, ends: Ends) -> tuple[Check, ...]:
    """Return the checks of one program's traffic: that it ran, its class, its VLAN, and its bytes."""
    name, end = transfer.name, ends[0][0]
    ran = check(name, "both ends end well", transfer.error or "both ends end well")
    data = [frame for frame in transfer.frames if frame.is_data]
    marked = f"all data packets have DSCP {end.dscp}"
    tagged = f"all RoCE packets are in VLAN {end.vlan}, between the planned addresses"
    if transfer.error is not None or not data:
        why = "no data crossed the cables" if transfer.error is None else f"{name} did not run"
        checks = [not_run(f"{name}-dscp", marked, why), not_run(f"{name}-vlan", tagged, why)]
        return (ran, *checks, *([] if name == "rping" else [not_run(f"{name}-bytes", "bytes are counted", why)]))
    return (ran, _dscp(name, marked, data), _vlan(name, tagged, transfer.frames, ends), *_bytes(transfer, data))


def _dscp(name: str, wanted: str, data: Iterable[Frame]) -> Check:
    seen = Counter(frame.dscp for frame in data)
    counts = tuple(f"{count} packets with DSCP {dscp}" for dscp, count in sorted(seen.items()))
    return check(f"{name}-dscp", wanted, f"all data packets have DSCP {_listed(seen)}", counts)


def _vlan(name: str, wanted: str, frames: Iterable[Frame], ends: Ends) -> Check:
    planned = {end.address for end, _ in ends}
    roce = [frame for frame in frames if frame.opcode is not None]
    strange = sorted({address for frame in roce for address in (frame.source, frame.target)} - planned)
    tags = {"none" if frame.vlan is None else frame.vlan for frame in roce}
    where = f"with {', '.join(strange)} among the addresses" if strange else "between the planned addresses"
    return check(f"{name}-vlan", wanted, f"all RoCE packets are in VLAN {_listed(tags)}, {where}")


def _bytes(transfer: Transfer, data: Sequence[Frame]) -> tuple[Check, ...]:
    """Compare what a program says that it moved with the data on the cables, each packet counted once."""
    if transfer.name == "rping":
        return ()  # it says nothing of bytes
    wanted = f"{transfer.moved_bytes} bytes of messages"
    if transfer.dropped:
        why = f"{transfer.dropped} frames came too fast to be counted"
        return (not_run(f"{transfer.name}-bytes", wanted, why),)
    once = {(frame.qp, frame.target, frame.psn): frame.payload for frame in data}
    largest = {qp for qp, _, _ in once if qp is not None}
    counted = {qp: sum(size for (each, _, _), size in once.items() if each == qp) for qp in largest}
    # The programs' own small exchange at the start and the end is on a queue pair apart.
    moved = sum(size for size in counted.values() if size * len(counted) >= transfer.moved_bytes / 2)
    again = len(data) - len(once)
    details = (f"{len(once)} packets of at most {max(once.values())} bytes of data, {again} sent again",)
    return (check(f"{transfer.name}-bytes", wanted, f"{moved} bytes of messages", details),)


def _of_two(name: str, said: str, ends: Ends, details: Sequence[str]) -> Check:
    bad = {line.partition(":")[0] for line in details}
    return check(
        name, f"{len(ends)} of {len(ends)} {said}", f"{len(ends) - len(bad)} of {len(ends)} {said}", tuple(details)
    )


def _table(gids: Iterable[Gid]) -> str:
    return "; ".join(f"{gid.index}: {gid.address} {gid.kind} {gid.interface}" for gid in gids) or "empty"


def _listed(values: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, values))) or "none"
