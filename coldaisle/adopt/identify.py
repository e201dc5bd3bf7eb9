"""
Which facts are about one thing: a BMC that tells its serial and not its name, a neighbour that tells its MAC.

A BMC belongs to the host whose name, serial, BMC address or MAC it tells. Where these name two hosts, nothing is
chosen: that is told, since it is how a board in the wrong chassis looks. Where no source has the host, its name is the
one that this BMC alone tells.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coldaisle.adopt.facts import Fact, Link, PortRef, Reading, Subject
from coldaisle.spec.problem import Problem


@dataclass(frozen=True, slots=True)
class Sighting:
    """A neighbour that a device sees at one of its ports: names that the far port may have, and MACs that it told."""

    near: PortRef
    device: str | None
    ports: tuple[str, ...]
    macs: tuple[str, ...]
    where: str


def identified(reading: Reading, sightings: Sequence[Sighting] = ()) -> Reading:
    """Return facts with each BMC's given to its host, and cables of what devices saw; what fits nobody is a note."""
    owners = _Owners(reading.facts)
    kept = [fact for fact in reading.facts if fact.subject.kind != "bmc"]
    problems, notes = list(reading.problems), list(reading.notes)
    bmcs: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in reading.facts:
        if fact.subject.kind == "bmc":
            bmcs[fact.subject.name].append(fact)
    alone = _own_names(bmcs)
    for address, facts in sorted(bmcs.items()):
        hosts = owners.of(address, facts) or alone.get(address, {})
        if len(hosts) == 1:
            kept += _given(next(iter(hosts)), address, facts)
        elif hosts:
            problems.append(_torn(address, facts, hosts))
        else:
            notes.append(
                f"{facts[0].where}: the BMC at {address}{_known(facts)} belongs to no host that a source names"
            )
    links = [*reading.links, *_links(sightings, owners, notes)]
    return Reading(tuple(kept), tuple(links), tuple(problems), tuple(notes))


def _own_names(bmcs: Mapping[str, Sequence[Fact]]) -> dict[str, dict[str, list[str]]]:
    """Return by BMC the host's name that it alone tells: whose it is where no other source has the host."""
    told: defaultdict[str, list[str]] = defaultdict(list)
    for address, facts in bmcs.items():
        for name in {str(fact.value) for fact in facts if fact.field == "hostname"}:
            told[name].append(address)
    return {found[0]: {name: [f"hostname {name}"]} for name, found in told.items() if len(found) == 1}


class _Owners:
    """Hosts by what may tell of them."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._by: dict[str, defaultdict[str, set[str]]] = {
            key: defaultdict(set) for key in ("serial", "bmc_address", "bmc_mac", "mac")
        }
        self.names: set[str] = set()
        self.ports: dict[str, set[PortRef]] = defaultdict(set)
        for fact in facts:
            self._keep(fact)

    def _keep(self, fact: Fact) -> None:
        if fact.subject.kind == "device":
            self.names.add(fact.subject.name)
            if fact.field in self._by:
                self._by[fact.field][str(fact.value)].add(fact.subject.name)
        elif fact.subject.kind == "port" and fact.field == "mac":
            device, _, port = fact.subject.name.partition(":")
            self._by["mac"][str(fact.value)].add(device)
            self.ports[str(fact.value)].add(PortRef(device, port))

    def of(self, address: str, facts: Sequence[Fact]) -> dict[str, list[str]]:
        """Return the hosts that a BMC's facts name, each with what names it."""
        hosts: defaultdict[str, list[str]] = defaultdict(list)
        for clue, value in _clues(address, facts):
            found = {value} & self.names if clue == "hostname" else self._by[clue].get(value, set())
            for host in found:
                hosts[host].append(f"{clue} {value}")
        return hosts


def _clues(address: str, facts: Sequence[Fact]) -> Iterator[tuple[str, str]]:
    yield "bmc_address", address
    for fact in facts:
        if fact.field in {"serial", "hostname", "bmc_mac"}:
            yield fact.field, str(fact.value)
        elif fact.field == "host_macs" and isinstance(fact.value, tuple):
            yield from (("mac", mac) for mac in fact.value)


def _given(host: str, address: str, facts: Sequence[Fact]) -> Iterator[Fact]:
    subject = Subject("device", host)
    yield Fact(subject, "bmc_address", address, facts[0].source, facts[0].where)
    yield from (replace(fact, subject=subject) for fact in facts if fact.field not in {"hostname", "host_macs"})


def _known(facts: Sequence[Fact]) -> str:
    known = [str(fact.value) for fact in facts if fact.field in {"model", "serial"}]
    return f" ({', '.join(known)})" if known else ""


def _torn(address: str, facts: Sequence[Fact], hosts: Mapping[str, Sequence[str]]) -> Problem:
    return Problem(
        check="adopt-contradiction",
        where=facts[0].where,
        path=f"bmc {address}",
        what=f"the BMC at {address} tells of {len(hosts)} hosts",
        have="; ".join(f"{host} by {', '.join(clues)}" for host, clues in sorted(hosts.items())),
        fix="see which board stands in which chassis, and correct the record that is wrong",
    )


def _links(sightings: Sequence[Sighting], owners: _Owners, notes: list[str]) -> Iterator[Link]:
    for seen in sightings:
        far = _far(seen, owners)
        if far is None:
            told = seen.device or (seen.macs[0] if seen.macs else "a device without a name")
            notes.append(f"{seen.where}: {seen.near.text} sees {told} without a port that a source names")
        else:
            yield Link(seen.near, far, "lldp", seen.where)


def _far(seen: Sighting, owners: _Owners) -> PortRef | None:
    by_mac = {port for mac in seen.macs for port in owners.ports.get(mac, ())}
    if len(by_mac) == 1 and (seen.device is None or not seen.ports):
        return next(iter(by_mac))
    if seen.device is None or not seen.ports:
        return None
    return PortRef(seen.device.lower().partition(".")[0], seen.ports[0])
