"""Who reaches whom with packets of the planned size that may not be cut: `ping -M do`, many at once and bounded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coldaisle.plan.model import End
from sim.shell import find, run
from sim.twin.place import Place
from sim.twin.records import Check, check, not_run
from sim.twin.switches import beside, inside
from sim.twin.topology import Endpoint

AT_ONCE = 32
"""Pings of one address beside each other; four addresses do so at once."""
WAIT_S = 3
"""A ping is repeated until it is answered or this time is over: first packets may be dropped for want of a MAC."""
HEADERS = {4: 28, 6: 48}
"""Bytes that IP and ICMP take of a packet (RFC 791, RFC 8200, RFC 792)."""
PING = "ping -n -q -c 1 -i 0.5 -w {wait} -M do -s {size} -I {own}"
SCRIPT = f'for to; do ({PING} "$to" >/dev/null 2>&1 || echo "$to") & done; wait'


@dataclass(frozen=True, slots=True)
class Ask:
    """What one address asks: whether it reaches each of some others with packets of a size."""

    source: Endpoint
    targets: tuple[Endpoint, ...]
    mtu_bytes: int

    @property
    def payload_bytes(self) -> int:
        """Return the bytes of a ping whose packet is as long as the MTU."""
        return self.mtu_bytes - HEADERS[6 if ":" in self.source.address else 4]


def asks(endpoints: Sequence[Endpoint]) -> list[Ask]:
    """Return what is to be asked: every address of every other device, in portions, at the smaller MTU of the two."""
    found = []
    for source in endpoints:
        others = [each for each in endpoints if each.device != source.device]
        for mtu in dict.fromkeys(min(source.mtu_bytes, each.mtu_bytes) for each in others):
            alike = [each for each in others if min(source.mtu_bytes, each.mtu_bytes) == mtu]
            found += [Ask(source, tuple(alike[at : at + AT_ONCE]), mtu) for at in range(0, len(alike), AT_ONCE)]
    return found


def lost_pairs(place: Place, wanted: Iterable[Ask]) -> list[tuple[Endpoint, Endpoint]]:
    """Return the pairs that do not reach each other."""

    def one(ask: Ask) -> list[tuple[Endpoint, Endpoint]]:
        script = SCRIPT.format(wait=WAIT_S, size=ask.payload_bytes, own=ask.source.address)
        find("ping", "iputils-ping")
        words = [*inside(place, ask.source.device), "sh", "-c", script, "sh", *(each.address for each in ask.targets)]
        silent = set(run(words, check=False).stdout.split())
        return [(ask.source, each) for each in ask.targets if each.address in silent]

    return [pair for found in beside(one, wanted) for pair in found]


def reach_checks(endpoints: Sequence[Endpoint], lost: Sequence[tuple[Endpoint, Endpoint]]) -> tuple[Check, ...]:
    """Return a check of the addresses of one rail, and one across rails; without rails, one of all."""
    pairs = [(one, two) for one in endpoints for two in endpoints if one.device != two.device]
    if not pairs:
        return (not_run("reach", "every host reaches every other", "fewer than two hosts or leaves run"),)
    if all(each.rail is None for each in endpoints):
        return (_reach("reach", pairs, lost),)
    same = [pair for pair in pairs if pair[0].rail == pair[1].rail]
    cross = [pair for pair in pairs if pair[0].rail != pair[1].rail]
    named = (("reach-in-rail", same), ("reach-across-rails", cross))
    return tuple(_reach(name, chosen, lost) for name, chosen in named if chosen)


def _reach(name: str, pairs: Sequence[tuple[Endpoint, Endpoint]], lost: Sequence[tuple[Endpoint, Endpoint]]) -> Check:
    gone = set(lost)
    bad = [pair for pair in pairs if pair in gone]
    sizes = sorted({min(one.mtu_bytes, two.mtu_bytes) for one, two in pairs})
    said = f"pairs reach each other at {' or '.join(map(str, sizes))} bytes"
    details = tuple(f"{one.device} {one.address} does not reach {two.device} {two.address}" for one, two in bad)
    return check(
        name, f"{len(pairs)} of {len(pairs)} {said}", f"{len(pairs) - len(bad)} of {len(pairs)} {said}", details
    )


def mtu_check(place: Place, wanted: Mapping[End, int]) -> Check:
    """Compare the MTU of every port that runs with the plan's."""
    devices = list(dict.fromkeys(end.device for end in wanted))

    def one(device: str) -> dict[End, int]:
        said = run([find("ip", "iproute2"), "-n", place.namespace(device), "-json", "link", "show"]).stdout
        return {End(device=device, port=str(port["ifname"])): int(port["mtu"]) for port in json.loads(said)}

    seen = {end: mtu for found in beside(one, devices) for end, mtu in found.items()}
    return compare_mtus(wanted, seen)


def compare_mtus(wanted: Mapping[End, int], seen: Mapping[End, int]) -> Check:
    """Return the check of ports' MTU from what was planned and what was seen."""
    bad = {end: seen.get(end) for end, mtu in wanted.items() if seen.get(end) != mtu}
    details = tuple(
        f"{end.device}:{end.port} should have {wanted[end]} bytes and has {mtu or 'no link'}"
        for end, mtu in bad.items()
    )
    return check(
        "mtu",
        f"{len(wanted)} of {len(wanted)} ports have the planned MTU",
        f"{len(wanted) - len(bad)} of {len(wanted)} ports have the planned MTU",
        details,
    )
