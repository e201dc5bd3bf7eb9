"""
A NetBox device type as an entry of the catalog.

NetBox says much less of a device than a plan needs. What it does not say is listed, and never filled in: a draw that is
not known must not count as zero, nor the sum of the inlets as what the device draws.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from coldaisle.spec.catalog import PortBlock, Switch, System
from coldaisle.spec.plant import RackPdu
from coldaisle.units import counted, grouped

KILOGRAMS: Mapping[str, float] = {"kg": 1.0, "g": 0.001, "lb": 0.45359237, "oz": 0.028349523125}
"""Kilograms in each of NetBox' units of weight."""

INFINIBAND_GBPS: Mapping[str, float] = {"fdr": 56.0, "edr": 100.0, "hdr": 200.0, "ndr": 400.0, "xdr": 800.0}
"""Rates of InfiniBand's four-lane ports, by generation."""

OUTLETS: Mapping[str, str] = {
    "iec-60320-c13": "c13",
    "iec-60320-c15": "c13",
    "iec-60320-c19": "c19",
    "iec-60320-c21": "c19",
    "eaton-c39": "c13-c19",
    "saf-d-grid": "saf-d-grid",
}
"""Outlets of a rack PDU by NetBox' types: a C15 takes what a C13 takes, and a C39 takes either plug."""

Kind = Literal["systems", "switches", "pdus"]


class NotADeviceTypeError(Exception):
    """A file is no device type of NetBox; the message says what it lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """
    An entry read from a device type.

    `entry` is what goes into the catalog. `missing` names each figure that the file does not give, with what to do;
    `notes` are things of the file that a reader should know.
    """

    kind: Kind
    name: str
    entry: Mapping[str, Any]
    missing: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Port:
    name: str
    rate_gbps: float
    infiniband: bool


def imported(data: object, kind: Kind, source: str) -> Imported:
    """
    Return a device type as an entry of the catalog.

    Args:
        data: What stands in the file.
        kind: What the device is; NetBox has one form for all.
        source: What the entry names as its source.

    Raises:
        NotADeviceTypeError: the file lacks what every device type has.
    """
    if not isinstance(data, Mapping) or not all(isinstance(data.get(key), str) for key in ("manufacturer", "model")):
        raise NotADeviceTypeError("it has no manufacturer and model, which every device type has")
    missing: dict[str, str] = {}
    notes = list(_notes(data))
    entry: dict[str, Any] = {"vendor": data["manufacturer"]}
    if kind != "switches":
        entry["description"] = data["model"]
    if kind == "pdus":
        entry |= _pdu(data, missing, notes)
    else:
        entry |= _body(data, missing)
        entry |= _switch(data, missing, notes) if kind == "switches" else _system(data, missing)
    entry["source"] = source
    name = re.sub(r"[^a-z0-9.-]+", "-", data["model"].lower()).strip("-.")
    return Imported(kind=kind, name=name, entry=entry, missing=missing, notes=tuple(notes))


def against(found: Imported, known: System | Switch | RackPdu) -> tuple[str, ...]:
    """
    Return where a device type and the catalog's own entry of that name disagree, for a reader to see which is right.

    A public device library lists 62 of the 64 ports of a QM9700, and calls them Ethernet (F19).
    """
    figures = [
        (name, found.entry[name], getattr(known, name, None))
        for name in ("kind", "height_u", "weight_kg", "phases")
        if name in found.entry
    ]
    if isinstance(known, Switch) and "ports" in found.entry:
        figures.append(("ports", sum(block["count"] for block in found.entry["ports"]), known.port_count))
    return tuple(
        f"the catalog's {found.name} has {figure} {own}, and the file {theirs}: see which is right"
        for figure, theirs, own in figures
        if own is not None and own != theirs
    )


def _body(data: Mapping[str, Any], missing: dict[str, str]) -> dict[str, Any]:
    """Return height and weight, and note what power lacks."""
    entry = _height(data, missing, least=1) | _weight(data, missing)
    missing["max_power_w"] = f"{_inlets(data)}; take what the device draws at most from the vendor's document"
    missing["psus"] = f"{_supplies(data)}, and not how many are needed; write count and needed"
    return entry


def _height(data: Mapping[str, Any], missing: dict[str, str], *, least: int) -> dict[str, Any]:
    height = _number(data.get("u_height"))
    if height is not None and height >= least and height == int(height):
        return {"height_u": int(height)}
    given = "no u_height" if height is None else f"a u_height of {height:g}"
    missing["height_u"] = f"the file has {given}; give whole rack units"
    return {}


def _weight(data: Mapping[str, Any], missing: dict[str, str]) -> dict[str, Any]:
    weight = _number(data.get("weight"))
    unit = KILOGRAMS.get(str(data.get("weight_unit")))
    if weight is None or weight <= 0 or unit is None:
        missing["weight_kg"] = "the file has no weight with its unit; take it from the vendor's document"
        return {}
    return {"weight_kg": round(weight * unit, 3)}


def _inlets(data: Mapping[str, Any]) -> str:
    """Return what the file says of the inlets' draws, which are not the device's."""
    draws = [_number(port.get("maximum_draw")) for port in _records(data, "power-ports")]
    known = [draw for draw in draws if draw is not None]
    if not known:
        return "the file gives no draw"
    unknown = f", and none for {counted(len(draws) - len(known), 'more inlet')}" if len(known) < len(draws) else ""
    return (
        f"the file gives {grouped(sum(known))} W over {counted(len(known), 'inlet')}{unknown}, "
        "which is not the device's draw where a supply is spare"
    )


def _supplies(data: Mapping[str, Any]) -> str:
    ports = _records(data, "power-ports")
    bays = [bay for bay in _records(data, "module-bays") if re.match(r"(?i)(psu|power)", str(bay.get("name")))]
    if ports:
        return f"the file gives {counted(len(ports), 'inlet')}"
    return f"the file gives {counted(len(bays), 'bay')} for supplies" if bays else "the file gives no supplies"


def _notes(data: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(data.get("airflow"), str):
        yield f"airflow is {data['airflow']}: see that it fits the aisle"
    elif data.get("u_height"):
        yield "the file gives no airflow: see that it fits the aisle"


# -- systems ------------------------------------------------------------------------------------------------------
def _system(data: Mapping[str, Any], missing: dict[str, str]) -> dict[str, Any]:
    """Return the ports that are surely a BMC's; which network the others belong to is the site's to say."""
    managed = [port for port in _records(data, "interfaces") if port.get("mgmt_only") is True]
    rates = {str(port.get("name")): _rate(str(port.get("type"))) for port in managed}
    nics = {name: {"rate_gbps": rate, "role": "bmc"} for name, rate in rates.items() if rate is not None}
    others = [str(port.get("name")) for port in _records(data, "interfaces") if str(port.get("name")) not in nics]
    if others:
        which = others[0] if len(others) == 1 else f"{others[0]} … {others[-1]}"
        missing["nics"] = f"the file names {counted(len(others), 'port')} ({which}) without their role; list them"
    missing["air_share"] = "NetBox does not say how much heat goes into air; 1.0 where no liquid cools the system"
    missing["gpus"] = "NetBox does not count GPUs; write model and count, or leave it out where there are none"
    missing["architecture"] = "write x86_64 or aarch64, or leave it out where nothing boots"
    missing["firmware"] = "write bios or uefi, or leave it out where nothing boots"
    return {"nics": nics} if nics else {}


# -- PDUs ---------------------------------------------------------------------------------------------------------
def _pdu(data: Mapping[str, Any], missing: dict[str, str], notes: list[str]) -> dict[str, Any]:
    """Return inlets and outlets; volts, amperes and breakers stand in no field of NetBox."""
    entry = _height(data, missing, least=0) | _weight(data, missing)
    records = _records(data, "power-outlets")
    outlets = Counter(OUTLETS[kind] for kind in (str(each.get("type")) for each in records) if kind in OUTLETS)
    others = sorted({str(each.get("type")) for each in records} - OUTLETS.keys())
    if others:
        missing["outlets of other types"] = f"the catalog has no word for {', '.join(others)}"
    if not records:
        missing["outlets"] = "the file lists none; count them by type"
    legless = sum(each.get("feed_leg") is None for each in records)
    if legless:
        notes.append(f"{legless} of {counted(len(records), 'outlet')} name no feed_leg: their phase stays unknown")
    advice = "NetBox has no field for it; take it from the vendor's document"
    missing |= dict.fromkeys(("phases", "voltage_v", "voltage_reference", "inlet_a", "banks", "bank_breaker_a"), advice)
    missing["capacity_w"] = f"{_inlets(data)}; write what it carries without derating"
    inlets = _records(data, "power-ports")
    return entry | ({"inputs": len(inlets)} if inlets else {}) | ({"outlets": dict(outlets)} if outlets else {})


# -- switches -----------------------------------------------------------------------------------------------------
def _switch(data: Mapping[str, Any], missing: dict[str, str], notes: list[str]) -> dict[str, Any]:
    """Return kind, ports and management port."""
    entry: dict[str, Any] = {}
    ports, unknown = [], []
    for record in _records(data, "interfaces"):
        name, kind = str(record.get("name")), str(record.get("type"))
        rate = _rate(kind)
        if record.get("mgmt_only") is True:
            entry |= {} if rate is None else {"management_port": name, "management_gbps": rate}
        elif rate is None:
            unknown.append(f"{name} ({kind})")
        else:
            ports.append(_Port(name, rate, kind.startswith("infiniband")))
    entry["kind"] = "infiniband" if any(port.infiniband for port in ports) else "ethernet"
    if entry["kind"] == "infiniband":
        notes.append("InfiniBand ports are taken as four lanes wide")
    if ports:
        entry["ports"] = [_written(block) for block in blocks(ports)]
        gaps = holes([port.name for port in ports])
        if gaps:
            notes.append(f"the file skips {', '.join(gaps)}: see whether the device has them")
    else:
        missing["ports"] = "the file lists no port of a known type"
    if unknown:
        missing["ports of other types"] = f"no rate is known of {', '.join(unknown)}; add them to ports by hand"
    missing["max_mtu_bytes"] = "NetBox does not say it; take it from the vendor's document"
    return entry


def _rate(kind: str) -> float | None:
    """Return the rate of one of NetBox' interface types, in Gb/s, or None where the type does not say it."""
    if kind.startswith("infiniband-"):
        return INFINIBAND_GBPS.get(kind.removeprefix("infiniband-"))
    found = re.match(r"([0-9.]+)(g?)base-", kind)
    return float(found[1]) / (1 if found[2] else 1000) if found else None


def blocks(ports: Sequence[_Port]) -> Iterator[PortBlock]:
    """Return runs of ports whose names count up and whose rates are one."""
    at = 0
    while at < len(ports):
        block = max((_run(ports[at:], pattern) for pattern in _patterns(ports[at].name)), key=lambda b: b.count)
        yield block
        at += block.count


def _patterns(name: str) -> Iterator[dict[str, Any]]:
    """Return the ways in which the names after this one may count: ports, or lanes within cages."""
    yield {"name": _literal(name), "first": 1}
    single = re.fullmatch(r"(.*?)(\d+)", name)
    if single and not single[2].startswith("0"):
        yield {"name": _literal(single[1]) + "{port}", "first": int(single[2])}
    double = re.fullmatch(r"(.*?)(\d+)(\D+)(\d+)", name)
    if double:
        pattern = f"{_literal(double[1])}{{cage}}{_literal(double[3])}{{lane}}"
        for lanes in (2, 4, 8):
            yield {"name": pattern, "first": int(double[2]), "first_lane": int(double[4]), "ports_per_cage": lanes}


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _run(ports: Sequence[_Port], pattern: Mapping[str, Any]) -> PortBlock:
    """Return the longest block of this pattern that the ports begin with."""
    count = 0
    block = PortBlock(count=len(ports), rate_gbps=ports[0].rate_gbps, **pattern)
    counts = "{port}" in block.name or "{cage}" in block.name
    for at, port in enumerate(ports[: None if counts else 1]):
        if port.name != block.port_name(at) or port.rate_gbps != ports[0].rate_gbps:
            break
        count += 1
    return block.model_copy(update={"count": max(count, 1)})


def _written(block: PortBlock) -> dict[str, Any]:
    """Return a block as it is written: what has its default is left out."""
    return block.model_dump(exclude_defaults=True, exclude_unset=False)


def holes(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that are missing between lanes and cages of the others: `P22.1` where cages have two lanes."""
    found: dict[tuple[str, str], dict[int, set[int]]] = {}
    for name in names:
        parts = re.fullmatch(r"(.*?)(\d+)(\D+)(\d+)", name)
        if parts:
            found.setdefault((parts[1], parts[3]), {}).setdefault(int(parts[2]), set()).add(int(parts[4]))
    return tuple(
        f"{head}{cage}{middle}{lane}"
        for (head, middle), cages in found.items()
        for cage in range(min(cages), max(cages) + 1)
        for lane in sorted(set().union(*cages.values()) - cages.get(cage, set()))
    )


# -- reading ------------------------------------------------------------------------------------------------------
def _records(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = data.get(key)
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _number(value: object) -> float | None:
    """Return a number of the file; text, true and false are none, and neither is infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return float(value)
