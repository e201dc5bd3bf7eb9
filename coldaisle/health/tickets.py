"""The end of a ladder that did not help: a ticket with the part to replace, where it is, and what was tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from coldaisle.health.conditions import rfc3339
from coldaisle.health.ladder import Ladder
from coldaisle.health.state import State
from coldaisle.health.topology import Topology
from coldaisle.health.xids import xids


@dataclass(frozen=True, slots=True)
class Ticket:
    """A ticket; `replace` is what to take to the rack, `tried` and `evidence` are lines for a person."""

    node: str
    rack: str
    rack_unit: int
    part: str
    identity: Mapping[str, str]
    cause: str
    replace: str
    tried: tuple[str, ...]
    evidence: tuple[str, ...]
    opened_at: str

    def as_json(self) -> dict[str, Any]:
        """Return the ticket for programs."""
        return {"schema_version": "1", **asdict(self)}


def ticket_of(ladder: Ladder, state: State, site: Topology, now: float) -> Ticket:
    """Return the ticket of a ladder that has come to its last rung."""
    place = site.nodes[ladder.node]
    identity = dict(state.parts.get(ladder.node, {}).get(ladder.part, {}))
    return Ticket(
        node=ladder.node,
        rack=place.rack,
        rack_unit=place.rack_unit,
        part=ladder.part,
        identity=identity,
        cause=_cause(ladder.cause),
        replace=_replace(ladder, identity, site),
        tried=tuple(_line(tried.rung, tried.why, tried.at, ok=tried.ok) for tried in ladder.tried),
        evidence=tuple(f"{rfc3339(it.seen_at)} {it.part}: {it.text or it.code}" for it in ladder.evidence),
        opened_at=rfc3339(now),
    )


def _line(rung: str, why: str, at: float, *, ok: bool) -> str:
    return f"{rfc3339(at)} {rung} {'done' if ok else 'failed'}{': ' if why else ''}{why}"


def _cause(cause: str) -> str:
    kind, _, code = cause.partition(" ")
    known = xids().get(code) if kind == "xid" else None
    return f"Xid {code}: {known.meaning} (NVIDIA: {known.bucket})" if known else cause


def _replace(ladder: Ladder, identity: Mapping[str, str], site: Topology) -> str:
    """Return what to take out, and where it is."""
    place = site.nodes[ladder.node]
    where = f"{ladder.node}, rack {place.rack}, unit {place.rack_unit}"
    if ladder.part.startswith("port "):
        port = ladder.part.removeprefix("port ")
        switch, end = site.ports.get((ladder.node, port), ("its switch", "its port"))
        return f"the cable and the transceivers between port {port} and {switch} {end} ({where})"
    serial = identity.get("serial", "not known")
    index = f", GPU {identity['minor_number']}" if "minor_number" in identity else ""
    if ladder.part.startswith("gpu "):
        return f"the GPU in PCI slot {ladder.part.removeprefix('gpu ')}{index}, serial {serial} ({where})"
    return f"{ladder.part} ({where})"
