"""
A NetBox export: answers of its REST API, a file for each kind of object.

Endpoints are told by their file names (`devices.json`, `ip-addresses.json`) or by the keys of one file. An answer is a
page: one that has a `next` page, or fewer results than it counts, is a part of the site and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath

from coldaisle.adopt.facts import Collector, Link, PortRef, Reading
from coldaisle.adopt.readers.parsing import (
    Json,
    address_of,
    at,
    interface_of,
    json_of,
    mac_of,
    maps,
    number_of,
    short,
    slug,
    subnet_of,
    text_of,
)

METRES: Mapping[str, float] = {"km": 1000.0, "m": 1.0, "cm": 0.01, "mi": 1609.344, "ft": 0.3048, "in": 0.0254}
KILOGRAMS: Mapping[str, float] = {"kg": 1.0, "g": 0.001, "lb": 0.45359237, "oz": 0.028349523125}
PHASES: Mapping[str, int] = {"single-phase": 1, "three-phase": 3}
ENDPOINTS = (
    "sites", "locations", "racks", "devices", "interfaces", "ip-addresses", "mac-addresses", "cables", "prefixes",
    "power-panels", "power-feeds", "vlans",
)  # fmt: skip
MANAGER_WORDS = ("bmc", "ipmi", "idrac", "ilo", "xcc")
"""Names of interfaces that are a BMC's, where the interface is for management only."""


def read(files: Mapping[str, str]) -> Reading:
    """Return what an export tells; files are by their path in it."""
    into = Collector("netbox")
    tables = _tables(files, into)
    if not into.problems and "devices" not in tables:
        into.unreadable(
            ", ".join(sorted(files)) or "netbox",
            "the export has no devices",
            "export dcim/devices too, as devices.json",
        )
    if not into.problems:
        for endpoint, reader in _READERS.items():
            for number, row in enumerate(tables.get(endpoint, [])):
                reader(row, f"netbox {endpoint} {row.get('id', number)}", into, tables)
    return into.reading()


# -- pages --------------------------------------------------------------------------------------------------------
Tables = dict[str, list[dict[str, Json]]]


def _tables(files: Mapping[str, str], into: Collector) -> Tables:
    tables: Tables = {}
    for path, text in sorted(files.items()):
        if not path.endswith(".json"):
            continue
        value = json_of(text, path, into)
        for endpoint, answer in _answers(path, value):
            tables.setdefault(endpoint, []).extend(_rows(answer, f"{path} {endpoint}", into))
    return tables


def _answers(path: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Yield endpoint and answer: of a file that is named for its endpoint, or of each key of one file."""
    stem = PurePath(path).stem.lower().replace("_", "-")
    named = next((each for each in ENDPOINTS if stem == each or stem.endswith(f"-{each}")), None)
    if named and not (isinstance(value, dict) and named in value):
        yield named, value
    elif isinstance(value, dict):
        yield from ((each, value[each]) for each in ENDPOINTS if each in value)


def _rows(answer: Json, where: str, into: Collector) -> list[dict[str, Json]]:
    if isinstance(answer, list):
        return list(maps(answer))
    if not isinstance(answer, dict) or not isinstance(answer.get("results"), list):
        if answer is not None:
            into.unreadable(where, "it is no answer of the REST API", "export the endpoint's whole JSON, with results")
        return []
    rows = list(maps(answer["results"]))
    count = answer.get("count")
    if answer.get("next") or (isinstance(count, int) and count > len(rows)):
        have = f"{len(rows)} of {count} results"
        into.unreadable(where, "the export is one page of several", "ask with ?limit=0, or export every page", have)
    return rows


# -- floor --------------------------------------------------------------------------------------------------------
def _site(row: dict[str, Json], where: str, into: Collector, _: Tables) -> None:
    into.add("site", "", where, name=text_of(row.get("slug")), timezone=text_of(row.get("time_zone")))


def _rack(row: dict[str, Json], where: str, into: Collector, tables: Tables) -> None:
    name = slug(row.get("name"))
    if name is None:
        return
    hall, aisle = _location(at(row, "location", "id"), tables)
    weight, unit = number_of(row.get("max_weight")), KILOGRAMS.get(str(at(row, "weight_unit", "value")))
    into.add(
        "rack",
        name,
        where,
        height_u=number_of(row.get("u_height")),
        hall=hall,
        row=aisle,
        max_weight_kg=round(weight * unit, 3) if weight and unit else None,
    )


def _location(number: Json, tables: Tables) -> tuple[str | None, str | None]:
    """Return hall and row of a rack: its outermost location, and the one that it stands in where that is another."""
    by_id = {each.get("id"): each for each in tables.get("locations", [])}
    chain: list[str] = []
    seen: set[object] = set()
    while number in by_id and number not in seen:
        seen.add(number)
        location = by_id[number]
        chain.append(slug(location.get("slug") or location.get("name")) or "")
        number = at(location, "parent", "id")
    if not chain:
        return None, None
    return chain[-1], chain[0] if len(chain) > 1 else None


def _panel(row: dict[str, Json], where: str, into: Collector, _: Tables) -> None:
    name = slug(row.get("name"))
    if name:
        into.add("panel", name, where, name=name)


def _feed(row: dict[str, Json], where: str, into: Collector, _: Tables) -> None:
    rack, name = slug(at(row, "rack", "name")), slug(row.get("name"))
    if rack is None or name is None:
        return
    # A feed's name is unique by panel, so that it mostly names its rack too.
    own = name.removeprefix(f"{rack}-")
    percent = number_of(row.get("max_utilization"))
    into.add(
        "feed",
        f"{rack}:{own}",
        where,
        voltage_v=number_of(row.get("voltage")),
        phases=PHASES.get(str(at(row, "phase", "value"))),
        breaker_a=number_of(row.get("amperage")),
        derating=percent / 100 if percent else None,
        upstream=slug(at(row, "power_panel", "name")),
    )


# -- devices ------------------------------------------------------------------------------------------------------
def _device(row: dict[str, Json], where: str, into: Collector, _: Tables) -> None:
    name = text_of(row.get("name"))
    if name is None:
        into.notes.append(f"{where}: a device without a name was passed over")
        return
    host, domain = short(name)
    role = row.get("role") or row.get("device_role")
    into.add("site", "", where, domain=domain)
    into.add(
        "device",
        host,
        where,
        manufacturer=text_of(at(row, "device_type", "manufacturer", "name")),
        model=text_of(at(row, "device_type", "model")),
        rack=slug(at(row, "rack", "name")),
        rack_unit=number_of(row.get("position")),
        serial=text_of(row.get("serial")),
        role=text_of(at(role, "slug")),
        platform=text_of(at(row, "platform", "slug")),
        pool=text_of(at(row, "cluster", "name")),
        bmc_address=address_of(at(row, "oob_ip", "address")),
        asn=number_of(at(row, "custom_fields", "asn")),
        management_address=address_of(at(row, "primary_ip4", "address") or at(row, "primary_ip", "address")),
    )


def _interface(row: dict[str, Json], where: str, into: Collector, _: Tables) -> None:
    device, name = text_of(at(row, "device", "name")), text_of(row.get("name"))
    if device is None or name is None:
        return
    host, _domain = short(device)
    mac = mac_of(at(row, "primary_mac_address", "mac_address") or row.get("mac_address"))
    if is_manager(row):
        into.add("device", host, where, bmc_mac=mac)
    into.add(
        "port",
        f"{host}:{name}",
        where,
        mac=mac,
        mtu=number_of(row.get("mtu")),
        vlan=number_of(at(row, "untagged_vlan", "vid")),
        guid=text_of(row.get("wwn")),
        name=name,
    )


def is_manager(row: Mapping[str, Json]) -> bool:
    """Tell whether an interface is a BMC's."""
    name = str(row.get("name", "")).lower()
    return row.get("mgmt_only") is True and any(word in name for word in MANAGER_WORDS)


def _address(row: dict[str, Json], where: str, into: Collector, tables: Tables) -> None:
    address = interface_of(row.get("address"))
    device = text_of(at(row, "assigned_object", "device", "name"))
    port = text_of(at(row, "assigned_object", "name"))
    if address is None or device is None or port is None:
        return
    host, _domain = short(device)
    into.add("port", f"{host}:{port}", where, address=address)
    name, domain = short(str(row.get("dns_name") or ""))
    if name == host:
        into.add("site", "", where, domain=domain)
    if str(at(row, "role", "value")) == "loopback":
        into.add("device", host, where, loopback=address_of(address))
    elif is_manager(_interface_row(at(row, "assigned_object", "id"), tables)):
        into.add("device", host, where, bmc_address=address_of(address))


def _interface_row(number: Json, tables: Tables) -> Mapping[str, Json]:
    # Asked for once an address: an index of its own keeps a large export linear.
    index = tables.setdefault(" interfaces by id", [])
    if not index:
        index.append({str(row.get("id")): row for row in tables.get("interfaces", [])})
    row: Mapping[str, Json] = index[0].get(str(number), {})
    return row


# -- networks and cables ------------------------------------------------------------------------------------------
NETWORKS: Mapping[str, str] = {
    "management": "management",
    "mgmt": "management",
    "in-band": "management",
    "bmc": "bmc",
    "ipmi": "bmc",
    "oob": "bmc",
    "out-of-band": "bmc",
    "switches": "switches",
    "switch-management": "switches",
}
"""What a prefix is for, by the slug of its role."""


def _prefix(row: dict[str, Json], where: str, into: Collector, _: Tables) -> None:
    prefix = subnet_of(row.get("prefix"))
    if prefix is None:
        return
    role = str(at(row, "role", "slug") or "")
    into.add("subnet", prefix, where, role=role or "none")
    for network in [NETWORKS[each] for each in role.split(" ") if each in NETWORKS]:
        gateway = address_of(at(row, "custom_fields", "gateway"))
        into.add("network", network, where, subnet=prefix, gateway=gateway, vlan=number_of(at(row, "vlan", "vid")))


def _cable(row: dict[str, Json], where: str, into: Collector, _: Tables) -> None:
    ends = [_end(row.get(f"{side}_terminations")) for side in "ab"]
    if None in ends or str(at(row, "status", "value") or "connected") != "connected":
        return
    length, unit = number_of(row.get("length")), METRES.get(str(at(row, "length_unit", "value")))
    metres = round(length * unit, 3) if length is not None and unit else None
    one, other = ends
    if one and other:
        into.links.append(Link(one, other, "netbox", where, metres))


def _end(terminations: Json) -> PortRef | None:
    """Return the one interface that an end of a cable has; power, console and patch panels are none of ours."""
    found = [each for each in maps(terminations) if each.get("object_type") == "dcim.interface"]
    device, port = (
        (text_of(at(found[0], "object", *keys)) for keys in (("device", "name"), ("name",))) if found else ("", "")
    )
    return PortRef(short(device)[0], port) if device and port else None


_Reader = Callable[[dict[str, Json], str, Collector, Tables], None]
_READERS: Mapping[str, _Reader] = {
    "sites": _site,
    "racks": _rack,
    "power-panels": _panel,
    "power-feeds": _feed,
    "devices": _device,
    "interfaces": _interface,
    "ip-addresses": _address,
    "prefixes": _prefix,
    "cables": _cable,
}
