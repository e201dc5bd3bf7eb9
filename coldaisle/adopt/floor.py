"""The section `facility`: halls, rows and racks with their feeds, and what is placed there without being a node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from coldaisle.adopt.estate import Device, Estate
from coldaisle.adopt.facts import Value
from coldaisle.adopt.merge import Known
from coldaisle.adopt.told import Gap, Told, cleaned, said
from coldaisle.spec.ranges import fold

_FEED = {"name": "a", "voltage_v": 415, "voltage_reference": "line-to-line", "phases": 3, "breaker_a": 63}
"""Stands in for a feed that is not known, while what does not depend on it is compared."""
Fields = Mapping[str, Known]


def facility(estate: Estate) -> dict[str, Any]:
    """Return the section, with gaps."""
    return cleaned(
        {
            "halls": [_hall(estate, *each) for each in _halls(estate)],
            "power": _power(estate),
            "cooling": _no_cooling(),
            "devices": list(_devices(estate)) or None,
        }
    )


def racks_of(estate: Estate) -> dict[str, Fields]:
    """Return every rack that a source lists, or that something stands in."""
    named = {str(device.value("rack")) for device in estate.devices.values() if device.value("rack") is not None}
    listed = estate.merged.of("rack")
    return {name: listed.get(name, {}) for name in sorted(named | listed.keys())}


def _halls(estate: Estate) -> Iterator[tuple[str, list[tuple[str, Fields]]]]:
    def hall(item: tuple[str, Fields]) -> str:
        return _text(item[1], "hall", "hall1")

    for name, members in groupby(sorted(racks_of(estate).items(), key=hall), hall):
        yield name, list(members)


def _text(fields: Fields, field: str, default: str) -> str:
    return str(fields[field].value) if field in fields else default


def _hall(estate: Estate, name: str, racks: list[tuple[str, Fields]]) -> dict[str, Any]:
    def row(item: tuple[str, Fields]) -> str:
        return _text(item[1], "row", "row1")

    rows = [(each, list(members)) for each, members in groupby(sorted(racks, key=row), row)]
    known = all("hall" in fields for _, fields in racks)
    note = "netbox" if known else "no source names halls and rows: rename them here"
    return {
        "name": Told(name, note),
        "rows": [{"name": each, "racks": list(_racks(estate, in_it))} for each, in_it in rows],
    }


def _racks(estate: Estate, racks: list[tuple[str, Fields]]) -> Iterator[dict[str, Any]]:
    """Yield racks, those that are alike and count up as one line."""
    alike: dict[str, list[str]] = {}
    found = {name: _rack(estate, name, fields) for name, fields in sorted(racks)}
    for name, data in found.items():
        alike.setdefault(repr(data), []).append(name)
    for names in alike.values():
        for pattern in fold(names).split(", "):
            yield {"name": pattern, **found[names[0]]}


def _rack(estate: Estate, name: str, fields: Fields) -> dict[str, Any]:
    return cleaned(
        {
            "height_u": said(fields.get("height_u")) or _no_height(),
            "max_weight_kg": said(fields.get("max_weight_kg")) or _no_weight(),
            "position_m": _no_position(),
            "cooling": _no_rack_cooling(),
            "power_feeds": _feeds(estate, name) or _no_feeds(),
        }
    )


def _feeds(estate: Estate, rack: str) -> list[dict[str, Any]]:
    return [
        cleaned(
            {
                "name": name.partition(":")[2],
                "voltage_v": said(fields.get("voltage_v")) or _no_feed("voltage_v", "volts, such as 415"),
                "voltage_reference": _no_reference(),
                "phases": said(fields.get("phases")) or _no_feed("phases", "1 or 3"),
                "breaker_a": said(fields.get("breaker_a")) or _no_feed("breaker_a", "amperes, such as 63"),
                "derating": said(fields.get("derating")) if len(_deratings(estate)) > 1 else None,
                "upstream": said(fields.get("upstream")),
            }
        )
        for name, fields in estate.merged.of("feed").items()
        if name.partition(":")[0] == rack
    ]


def _power(estate: Estate) -> dict[str, Any]:
    known = _deratings(estate)
    derating = Told(known.pop(), "netbox, of every feed") if len(known) == 1 else _no_derating()
    panels = [{"name": name, "kind": "panel", "capacity_w": _no_capacity(name)} for name in estate.merged.of("panel")]
    return {"derating": derating, "upstream": panels or _no_upstream()}


def _deratings(estate: Estate) -> set[Value]:
    feeds = estate.merged.of("feed").values()
    return {fields["derating"].value for fields in feeds if "derating" in fields}


def _devices(estate: Estate) -> Iterator[dict[str, Any]]:
    for name, device in estate.of("device").items():
        if device.entry and device.value("rack") is not None and device.value("rack_unit") is not None:
            yield _device(name, device)


def _device(name: str, device: Device) -> dict[str, Any]:
    return {"name": name, "model": device.entry, "rack": device.value("rack"), "rack_unit": device.value("rack_unit")}


# -- gaps ---------------------------------------------------------------------------------------------------------
def _no_height() -> Gap:
    look = "the rack, or NetBox' rack page"
    return Gap(what="rack units of the rack", look=look, write="such as 48", required=True, stand_in=60)


def _no_weight() -> Gap:
    return Gap(what="the weight that the rack carries", look="the rack's data sheet", write="kilograms, such as 1360")


def _no_position() -> Gap:
    look = "a floor plan, or a tape measure from the head of the row"
    return Gap(what="where the rack stands in its row, for cable lengths", look=look, write="metres, such as 0.6")


def _no_rack_cooling() -> Gap:
    return Gap(what="what takes the rack's heat", look="the facility's team", write="a name under facility.cooling")


def _no_feeds() -> Gap:
    look = "the PDU's label and the panel's schedule; NetBox' power feeds where they are kept"
    write = "[{name: a, voltage_v: 415, voltage_reference: line-to-line, phases: 3, breaker_a: 63}]"
    return Gap(what="the circuits of the rack", look=look, write=write, required=True, stand_in=[_FEED])


def _no_feed(field: str, write: str) -> Gap:
    what = f"{field} of the feed"
    look = "the breaker in the panel"
    return Gap(what=what, look=look, write=write, required=True, stand_in=_FEED[field])


def _no_reference() -> Gap:
    look = "the panel's schedule: NetBox keeps volts without saying what they are against"
    write = "line-to-line or line-to-neutral: a three-phase feed carries 1.73 times as much with the second"
    what = "what the feed's volts are measured against"
    return Gap(what=what, look=look, write=write, required=True, stand_in="line-to-line")


def _no_derating() -> Gap:
    look = "the electrical code that the site is built to"
    what = "the part of a breaker's rating for continuous load"
    return Gap(what=what, look=look, write="0.8 under NEC 210.20(A)", required=True, stand_in=0.8)


def _no_capacity(name: str) -> Gap:
    look = f"the label of {name}"
    return Gap(
        what=f"what {name} carries", look=look, write="watts, such as 600000", required=True, stand_in=10_000_000
    )


def _no_upstream() -> Gap:
    look = "the one-line diagram of the site"
    return Gap(
        what="what feeds the racks: panels, UPS, utility", look=look, write="[{name: ups-a, kind: ups, capacity_w: …}]"
    )


def _no_cooling() -> Gap:
    look = "the facility's team: no tool that was read knows coolers"
    return Gap(what="cooling units", look=look, write="[{name: crah, kind: air, units: 2, capacity_w_each: …, …}]")
