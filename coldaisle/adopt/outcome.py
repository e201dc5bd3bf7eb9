"""
What becomes of a site's sources: a new spec with what it lacks, or how an existing one differs from them.

Pure: reading files and writing them is the command line's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from coldaisle.adopt.compare import Difference, differences
from coldaisle.adopt.draft import draft
from coldaisle.adopt.estate import Estate
from coldaisle.adopt.facts import Reading, Untold, joined
from coldaisle.adopt.identify import Sighting, identified
from coldaisle.adopt.merge import Contradiction, merged
from coldaisle.adopt.pools import other_counts, strange_ports
from coldaisle.adopt.site import adopted
from coldaisle.adopt.told import Gap, Unknown, unknowns
from coldaisle.adopt.write import files
from coldaisle.spec.catalog import Catalog
from coldaisle.spec.problem import Problem
from coldaisle.spec.sections import SiteSpec


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What was found. `files` are the texts of a new spec, none where one is there already or the sources are at fault.

    `unplanned` says why a new spec could not be held against its sources; empty where it was.
    """

    problems: tuple[Problem, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    differences: tuple[Difference, ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    notes: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    unplanned: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it for programs, without the texts of the files."""
        return {
            "counts": dict(self.counts),
            "contradictions": [each.text for each in self.contradictions],
            "differences": [each.as_json() for each in self.differences],
            "unknown": [each.as_json() for each in self.unknowns],
            "notes": list(self.notes),
            "unplanned": self.unplanned,
        }


def with_untold(outcome: Outcome, untold: Iterable[Untold]) -> Outcome:
    """Return an outcome whose unknowns begin with what those did not tell who were asked."""
    found = tuple(Unknown((each.source, each.who), _untold(each)) for each in untold)
    return replace(outcome, unknowns=(*found, *outcome.unknowns))


def _untold(each: Untold) -> Gap:
    if not each.silent:
        return Gap(what=f"{each.what}: {each.why}", look="the device itself", write="nothing here, or its value below")
    what = f"what is there: it did not answer ({each.why})"
    look = "its power, cable and credentials"
    return Gap(what=what, look=look, write="nothing here: adopt again when it answers", required=True)


def estate_of(readings: Iterable[Reading], sightings: Sequence[Sighting], catalog: Catalog) -> Estate:
    """Return what several sources know together."""
    return Estate(merged(identified(joined(readings), sightings)), catalog)


def new_spec(estate: Estate, name: str, sources: Iterable[str]) -> Outcome:
    """Return a new spec of a site; none where its sources are at fault."""
    if estate.merged.problems:
        return _refused(estate)
    spec = adopted(estate, name)
    sections = {**spec.sections, "catalog": _models(estate)}
    found: tuple[Difference, ...] = ()
    unplanned = ""
    try:
        compared = differences(draft(spec.sections, estate.catalog, spec.allocations), estate)
        found = tuple(each for each in compared if not _is_a_gap(each, estate))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        unplanned = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return Outcome(
        contradictions=estate.merged.contradictions,
        differences=found,
        unknowns=(*unknowns(sections), *_strange_ends(estate)),
        notes=_notes(estate),
        counts=counts(estate),
        files=files(spec.sections, spec.allocations, sources),
        unplanned=unplanned,
    )


def _is_a_gap(difference: Difference, estate: Estate) -> bool:
    """Tell whether a thing is not planned because its model or its place is not known, which its gap says."""
    device = estate.devices.get(difference.thing.partition(" ")[2])
    if difference.field or difference.planned or device is None:
        return False
    return not device.entry or device.value("rack") is None or device.value("rack_unit") is None


def existing_spec(estate: Estate, spec: SiteSpec) -> Outcome:
    """Return how a spec that is there differs from its sources; nothing is written."""
    if estate.merged.problems:
        return _refused(estate)
    return Outcome(
        contradictions=estate.merged.contradictions,
        differences=differences(spec, estate),
        unknowns=tuple(unknowns({"catalog": _models(estate)})),
        notes=_notes(estate),
        counts=counts(estate),
    )


def _refused(estate: Estate) -> Outcome:
    known = estate.merged
    return Outcome(known.problems, known.contradictions, notes=known.notes, counts=counts(estate))


def counts(estate: Estate) -> dict[str, int]:
    """Count what the sources know."""
    kinds = {"nodes": "node", "switches": "switch", "other devices": "device"}
    found = {"racks": len(estate.merged.of("rack"))}
    found |= {name: len(estate.of(kind)) for name, kind in kinds.items()}  # type: ignore[arg-type]  # the three kinds
    return found | {"cables": len(estate.merged.cables)}


def _models(estate: Estate) -> dict[str, Any]:
    """Return a gap for each model that fits no entry of the catalog; a node's is told at its pool."""
    named: dict[str, list[str]] = {}
    for name, device in estate.of("device").items():
        model = device.fields.get("model")
        if not device.entry and model is not None:
            named.setdefault(str(model.value), []).append(name)
    return {model: _no_entry(model, names) for model, names in sorted(named.items())}


def _no_entry(model: str, names: Sequence[str]) -> Gap:
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")  # noqa: PLR2004
    look = "the vendor's document; `coldaisle catalog import` reads a NetBox device type"
    write = "an entry in catalog.yaml of the site's folder, then adopt again"
    what = f"the model {model} of {shown}: the catalog has no entry that it fits"
    return Gap(what=what, look=look, write=write, required=True)


def _strange_ends(estate: Estate) -> Iterator[Unknown]:
    """Yield devices at the ends of cables that no source describes: LLDP names switches, and not what they are."""
    near: dict[str, set[str]] = {}
    for cable in estate.merged.cables:
        for end, other in (cable.ends, cable.ends[::-1]):
            if end.device not in estate.devices:
                near.setdefault(end.device, set()).add(other.device)
    for name, seen in sorted(near.items()):
        what = f"what {name} is, which cables of {len(seen)} devices lead to: its model, rack and rack unit"
        look = "the switch, by `switches` of --live, and NetBox for its place"
        write = "a fabric that has it, under fabrics; or adopt again with a source that describes it"
        yield Unknown(("cables", name), Gap(what=what, look=look, write=write, required=True))


def _notes(estate: Estate) -> tuple[str, ...]:
    ports = strange_ports(estate)
    fix = "the catalog's entry must name ports as the hosts do"
    strange = [
        f"ports {', '.join(names)} of {node} are none of {estate.devices[node].entry}'s: {fix}"
        for node, names in ports.items()
    ]
    return (*estate.merged.notes, *strange, *other_counts(estate))
