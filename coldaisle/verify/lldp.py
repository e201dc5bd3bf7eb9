"""LLDP neighbours in JSON: lldpd's `json` and `json0`, and EOS' `show lldp neighbors | json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coldaisle.verify.seen import BAD_TEXT, Answer, Neighbour, Told, as_mac

Json = Any
_CHASSIS_KEYS = {"id", "descr", "mgmt-ip", "mgmt-iface", "capability", "ttl"}


def lldpd(data: dict[str, Json], source: str, device: str) -> Answer:
    """
    Read what `lldpctl -f json`, `-f json0` or `lldpcli show neighbors -f json` prints on a device.

    In json a thing that is there once is no list, and named things are keys; in json0 everything is a list.
    """
    notes: list[str] = []
    neighbours = tuple(
        Neighbour(Told(device, (interface,)), _remote(entry, notes, f"{source}: {interface}"))
        for part in _listed(data["lldp"])
        for interface, entry in _interfaces(part.get("interface"))
    )
    return Answer(source, "lldp", (Told(device),), neighbours, notes=tuple(notes))


def _interfaces(value: Json) -> Iterator[tuple[str, dict[str, Json]]]:
    for item in _listed(value):
        if isinstance(item.get("name"), str):
            yield item["name"], item
            continue
        for name, entries in item.items():
            yield from ((name, entry) for entry in _listed(entries))


def _remote(entry: dict[str, Json], notes: list[str], where: str) -> Told:
    name, chassis = _chassis(entry.get("chassis"))
    port = next(iter(_listed(entry.get("port"))), {})
    kind, value = _id(port.get("id"))
    described = _value(port.get("descr"))
    names = [text for text in (None if kind == "mac" else value, described) if text]
    macs = [mac for text in (value, _id(chassis.get("id"))[1]) if text and (mac := as_mac(text))]
    return Told(
        _clean(name, "system name", notes, where),
        tuple(dict.fromkeys(text for each in names if (text := _clean(each, "port", notes, where)))),
        tuple(dict.fromkeys(macs)),
    )


def _chassis(value: Json) -> tuple[str | None, dict[str, Json]]:
    """Return a neighbour's system name and the rest of its chassis."""
    chassis = next(iter(_listed(value)), {})
    if "name" in chassis:
        return _value(chassis["name"]), chassis
    named = [key for key, inner in chassis.items() if key not in _CHASSIS_KEYS and isinstance(inner, dict)]
    return (named[0], chassis[named[0]]) if named else (None, chassis)


def _id(value: Json) -> tuple[str | None, str | None]:
    """Return type and value of a chassis or port id."""
    found = next(iter(_listed(value)), {})
    kind, text = found.get("type"), found.get("value")
    return (kind if isinstance(kind, str) else None), (text if isinstance(text, str) else None)


def _value(value: Json) -> str | None:
    """Return a text that stands alone, or in a list of one `value`."""
    if isinstance(value, list):
        value = value[0] if value else None
    text = value.get("value") if isinstance(value, dict) else value
    return text if isinstance(text, str) and text else None


def _clean(text: str | None, what: str, notes: list[str], where: str) -> str | None:
    """Return a text, or None where it holds bytes that are no UTF-8; the rest of the neighbour stays."""
    if text is None or BAD_TEXT not in text:
        return text
    notes.append(f"{where}: the neighbour's {what} is no UTF-8 and was dropped")
    return None


def _listed(value: Json) -> list[dict[str, Json]]:
    """Return the mappings of a value that is one, or a list of them."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict)]


def eos(data: dict[str, Json], source: str, device: str) -> Answer:
    """
    Read what EOS prints. A switch that dropped neighbours for want of room says so, and its table is not whole.

    EOS quotes port ids in some releases, and prints MACs in groups of four digits.
    """
    notes: list[str] = []
    dropped = data.get("tablesDrops")
    whole = not (isinstance(dropped, int) and dropped > 0)
    if not whole:
        notes.append(f"{source}: {device} dropped {dropped} neighbours for want of room in its table")
    found = [item for item in _listed(data["lldpNeighbors"]) if isinstance(item.get("port"), str)]
    neighbours = tuple(Neighbour(Told(device, (item["port"],)), _eos_remote(item, notes, source)) for item in found)
    return Answer(source, "lldp", (Told(device),), neighbours, whole, tuple(notes))


def _eos_remote(item: dict[str, Json], notes: list[str], source: str) -> Told:
    port = str(item.get("neighborPort") or "").strip('"')
    name, mac = str(item.get("neighborDevice") or "") or None, as_mac(port)
    by_mac = as_mac(name) if name else None
    where = f"{source}: {item['port']}"
    known = _clean(port, "port", notes, where) if port and mac is None else None
    return Told(
        None if by_mac else _clean(name, "system name", notes, where),
        (known,) if known else (),
        tuple(each for each in (mac, by_mac) if each),
    )
