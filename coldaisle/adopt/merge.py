"""
One value for each field, of what several sources say; where they contradict each other, that is said with both.

`FIRST` is the table of who is believed: what hardware tells of itself comes before what people wrote down about it, and
what people decide (names of racks, pools) comes from where they keep it. A contradiction is never passed over: the
value that the table chooses is in the spec, and the others stand beside it and in the report. A source that contradicts
itself is believed in nothing of that field.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from coldaisle.adopt.facts import Fact, Link, PortRef, Reading, Source, Subject, Value
from coldaisle.adopt.models import normal
from coldaisle.spec.problem import Problem

_TOLD: tuple[Source, ...] = ("redfish", "ssh", "maas", "kubernetes", "lldp", "netbox", "kayobe", "deepops")
_RECORDED: tuple[Source, ...] = ("netbox", "maas", "kayobe", "deepops", "kubernetes", "ssh", "redfish", "lldp")
_CLUSTER: tuple[Source, ...] = ("kubernetes", "ssh", "deepops", "maas", "netbox", "kayobe", "redfish", "lldp")

FIRST: Mapping[str, tuple[Source, ...]] = {
    **dict.fromkeys(("manufacturer", "model", "serial", "bmc_address", "bmc_mac", "bmc_protocol", "firmware"), _TOLD),
    **dict.fromkeys(("mac", "guid", "address", "mtu", "vlan", "asn", "loopback"), _TOLD),
    **dict.fromkeys(("rack", "rack_unit", "height_u", "hall", "row", "max_weight_kg", "role", "kind"), _RECORDED),
    **dict.fromkeys(("voltage_v", "phases", "breaker_a", "derating", "upstream", "subnet", "gateway"), _RECORDED),
    **dict.fromkeys(("management_address", "architecture", "os", "pool", "pool_role", "taints"), _CLUSTER),
    **dict.fromkeys(("cluster_version", "pod_cidr", "service_cidr", "max_pods"), _CLUSTER),
    **dict.fromkeys(("domain", "timezone", "ntp_servers", "zone", "region", "name"), _RECORDED),
}
"""Which source is believed, field by field; a field that is not here has the order of `_TOLD`."""

NEVER_CHOSEN = frozenset({"serial"})
"""Fields in which two sources cannot both be believed about one device: the record is of another machine."""

UNIQUE = (("device", "serial"), ("device", "bmc_address"), ("device", "bmc_mac"), ("device", "management_address"),
          ("port", "mac"))  # fmt: skip
"""Fields whose value names one thing only."""


@dataclass(frozen=True, slots=True)
class Known:
    """The value of a field, the fact that it is from, and other sources that say the same."""

    fact: Fact
    others: tuple[Fact, ...] = ()

    @property
    def value(self) -> Value:
        """Return the value."""
        return self.fact.value

    @property
    def sources(self) -> tuple[Source, ...]:
        """Return every source that says it, the believed one first."""
        return tuple(dict.fromkeys((self.fact.source, *(fact.source for fact in self.others))))


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Facts about one field that cannot all be true; `chosen` is the one that the table believes, if any."""

    subject: Subject
    field: str
    facts: tuple[Fact, ...]
    chosen: Fact | None

    @property
    def text(self) -> str:
        """Say it in words, the believed source first."""
        said = "; ".join(f"{fact.source} says {shown(fact.value)} ({fact.where})" for fact in self.facts)
        end = f"{self.chosen.source} is believed" if self.chosen else "none is believed"
        return f"{self.subject.text} {self.field}: {said}. {end}"


@dataclass(frozen=True, slots=True)
class Cable:
    """A cable that at least one source knows, its ends in order; `length_m` is None where none knows it."""

    ends: tuple[PortRef, PortRef]
    sources: tuple[Source, ...]
    length_m: float | None


@dataclass(frozen=True, slots=True)
class Merged:
    """What is known of the site: values by thing and field, cables, contradictions, and what was wrong."""

    values: Mapping[Subject, Mapping[str, Known]]
    cables: tuple[Cable, ...]
    contradictions: tuple[Contradiction, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]

    def of(self, kind: str) -> dict[str, Mapping[str, Known]]:
        """Return the fields of all things of a kind, by name and sorted."""
        return {subject.name: self.values[subject] for subject in sorted(self.values) if subject.kind == kind}

    def get(self, kind: str, name: str, field: str) -> Known | None:
        """Return one field's value."""
        return self.values.get(Subject(kind, name), {}).get(field)  # type: ignore[arg-type]  # kinds are few and fixed


def shown(value: Value) -> str:
    """Write a value as a report does."""
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def merged(reading: Reading) -> Merged:
    """Return one value a field, and all that contradicts or is there twice."""
    said: defaultdict[Subject, defaultdict[str, list[Fact]]] = defaultdict(lambda: defaultdict(list))
    for fact in reading.facts:
        said[fact.subject][fact.field].append(fact)
    values: dict[Subject, dict[str, Known]] = {}
    contradictions: list[Contradiction] = []
    for subject, fields in said.items():
        values[subject] = {}
        for field, facts in fields.items():
            known, against = _one(subject, field, facts)
            if known:
                values[subject][field] = known
            contradictions += [against] if against else []
    cables, torn, unclear = _cables(reading.links)
    problems = [*reading.problems, *_twice(values), *_undecided(contradictions), *unclear]
    contradictions += torn
    return Merged(values, cables, tuple(sorted(contradictions, key=attrgetter("subject", "field"))),
                  tuple(problems), reading.notes)  # fmt: skip


# -- fields -------------------------------------------------------------------------------------------------------
def _one(subject: Subject, field: str, facts: Sequence[Fact]) -> tuple[Known | None, Contradiction | None]:
    order = FIRST.get(field, _TOLD)
    ranked = sorted(facts, key=lambda fact: (order.index(fact.source), fact.where))
    if len({_same(field, fact.value) for fact in ranked}) == 1:
        return Known(ranked[0], tuple(ranked[1:])), None
    chosen = None if field in NEVER_CHOSEN else _believed(field, ranked)
    against = Contradiction(subject, field, _each_once(field, ranked), chosen)
    if chosen is None:
        return None, against
    agreeing = [
        fact for fact in ranked if fact is not chosen and _same(field, fact.value) == _same(field, chosen.value)
    ]
    return Known(chosen, tuple(agreeing)), against


def _believed(field: str, ranked: Sequence[Fact]) -> Fact | None:
    """Return the first fact whose source does not contradict itself."""
    values: defaultdict[Source, set[Value]] = defaultdict(set)
    for fact in ranked:
        values[fact.source].add(_same(field, fact.value))
    return next((fact for fact in ranked if len(values[fact.source]) == 1), None)


def _each_once(field: str, ranked: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return one fact for each source and value: a site's domain is said once a host."""
    found: dict[tuple[Source, Value], Fact] = {}
    for fact in ranked:
        found.setdefault((fact.source, _same(field, fact.value)), fact)
    return tuple(found.values())


def _same(field: str, value: Value) -> Value:
    """Return what two ways to write one value have in common."""
    if field in {"model", "manufacturer"}:
        return normal(str(value))
    return value.lower() if isinstance(value, str) and not field.startswith("label ") else value


# -- cables -------------------------------------------------------------------------------------------------------
def _cables(links: Iterable[Link]) -> tuple[tuple[Cable, ...], list[Contradiction], list[Problem]]:
    """
    Return the cables. A port has one: what LLDP sees there is believed before what is recorded.

    Two cables at one port of one source are a problem, since nothing tells which of them is there.
    """
    by_ends: defaultdict[tuple[PortRef, PortRef], list[Link]] = defaultdict(list)
    for link in links:
        by_ends[link.ends].append(link)
    taken: dict[PortRef, tuple[PortRef, PortRef]] = {}
    cables, torn, problems = [], [], []
    for ends, same in sorted(by_ends.items(), key=lambda item: (not any(x.source == "lldp" for x in item[1]), item[0])):
        other = next((taken[end] for end in ends if end in taken), None)
        if other is None:
            taken |= dict.fromkeys(ends, ends)
            lengths = [link.length_m for link in same if link.length_m is not None]
            cables.append(Cable(ends, tuple(sorted({link.source for link in same})), lengths[0] if lengths else None))
        elif {link.source for link in same} & {link.source for link in by_ends[other]}:
            problems.append(_two_cables(same[0], by_ends[other][0]))
        else:
            torn.append(_other_cable(same[0], by_ends[other][0]))
    return tuple(sorted(cables, key=attrgetter("ends"))), torn, problems


def _cable_text(link: Link) -> str:
    return " to ".join(end.text for end in link.ends)


def _other_cable(against: Link, believed: Link) -> Contradiction:
    port = next(end for end in against.ends if end in believed.ends)
    facts = tuple(
        Fact(Subject("port", port.text), "cable", _cable_text(link), link.source, link.where)
        for link in (believed, against)
    )
    return Contradiction(Subject("port", port.text), "cable", facts, facts[0])


def _two_cables(one: Link, other: Link) -> Problem:
    port = next(end for end in one.ends if end in other.ends)
    return Problem(
        check="adopt-contradiction",
        where=one.where,
        path=f"port {port.text}",
        what=f"{one.source} has two cables at one port",
        have=f"{_cable_text(other)} ({other.where}); {_cable_text(one)}",
        fix="see which cable is there, and correct the other record",
    )


# -- what cannot be -----------------------------------------------------------------------------------------------
def _twice(values: Mapping[Subject, Mapping[str, Known]]) -> list[Problem]:
    """Return a problem for each value that names two things."""
    found: defaultdict[tuple[str, str, Value], list[Known]] = defaultdict(list)
    wanted = set(UNIQUE)
    for subject, fields in values.items():
        for field, known in fields.items():
            if (subject.kind, field) in wanted:
                found[subject.kind, field, known.value].append(known)
    return [_used_twice(field, value, sorted(all_of, key=lambda each: each.fact.subject))
            for (_, field, value), all_of in sorted(found.items(), key=str) if len(all_of) > 1]  # fmt: skip


def _used_twice(field: str, value: Value, all_of: Sequence[Known]) -> Problem:
    return Problem(
        check="adopt-duplicate",
        where=all_of[0].fact.where,
        path=f"{field} {shown(value)}",
        what=f"{len(all_of)} things have the {field} {shown(value)}",
        have="; ".join(f"{each.fact.subject.text} by {each.fact.source} ({each.fact.where})" for each in all_of),
        fix="see on the hardware whose it is, and correct the record of the others",
    )


def _undecided(contradictions: Iterable[Contradiction]) -> list[Problem]:
    """Return a problem for each contradiction in which nobody is believed about a device."""
    return [_nobody(each) for each in contradictions if each.chosen is None]


def _nobody(each: Contradiction) -> Problem:
    return Problem(
        check="adopt-contradiction",
        where=each.facts[0].where,
        path=each.subject.text,
        what=f"sources tell the {each.field} of {each.subject.text} in {len(each.facts)} ways, and none is surer",
        have="; ".join(f"{fact.source} says {shown(fact.value)} ({fact.where})" for fact in each.facts),
        fix="see which is true, and correct the other record",
    )
