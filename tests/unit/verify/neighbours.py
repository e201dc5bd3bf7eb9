"""What devices would tell of given links, in every format that is read; and small sites to tell it of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from coldaisle.check import open_site
from coldaisle.plan import plan_site
from coldaisle.plan.model import End
from coldaisle.verify import Answer, Wanted, read, wanted
from tests.unit.floor_sites import superpod

ROOT = Path(__file__).parents[3]
Links = Mapping[End, End]


@cache
def ethernet() -> Wanted:
    """Return the cables of a small site with RoCE and an out-of-band network, whose hosts have a delivery list."""
    checked = open_site(ROOT / "tests" / "cases" / "base")
    return wanted(checked.spec, checked.plan)


@cache
def infiniband() -> Wanted:
    """Return the cables of four DGX H100 on InfiniBand."""
    spec = superpod(4, managers=False)
    return wanted(spec, plan_site(spec))


@cache
def pod() -> Wanted:
    """Return the cables of 127 DGX H100: InfiniBand with its managers, and three Ethernet fabrics."""
    checked = open_site(ROOT / "inventory" / "h100-pod")
    return wanted(checked.spec, checked.plan)


def end(text: str) -> End:
    """Return the end that `device:port` names."""
    device, _, port = text.partition(":")
    return End(device=device, port=port)


def as_planned(cables: Wanted) -> dict[End, End]:
    """Return the links of the plan, from both ends."""
    return {one: cable.other(one) for cable in cables.cables for one in cable.ends}


def relinked(links: Links, *pairs: tuple[str, str]) -> dict[End, End]:
    """Return links with some cables in other places; what they were plugged in before is free then."""
    changed = dict(links)
    for pair in pairs:
        for text in pair:
            changed.pop(changed.pop(end(text), End(device="", port="")), None)
    for one, two in pairs:
        changed |= {end(one): end(two), end(two): end(one)}
    return changed


def without(links: Links, *texts: str) -> dict[End, End]:
    """Return links without the cables at some ends."""
    gone = {end(text) for text in texts} | {links[end(text)] for text in texts}
    return {one: two for one, two in links.items() if one not in gone}


def muted(links: Links, *devices: str) -> dict[End, End]:
    """Return links without those of some devices."""
    return {one: two for one, two in links.items() if not {one.device, two.device} & set(devices)}


def of(links: Links, device: str) -> list[tuple[str, End]]:
    """Return what a device sees: its port, and the other end."""
    return sorted(((one.port, two) for one, two in links.items() if one.device == device), key=lambda each: each[0])


def lldpd_json(links: Links, device: str) -> bytes:
    """Return what lldpctl prints in its form `json`: names are keys."""
    interfaces = [
        {
            port: {
                "via": "LLDP",
                "rid": "1",
                "chassis": {peer.device: {"id": {"type": "local", "value": peer.device}, "descr": "Linux"}},
                "port": {"id": {"type": "ifname", "value": peer.port}, "descr": peer.port, "ttl": "120"},
            }
        }
        for port, peer in of(links, device)
    ]
    # One interface is no list.
    only = {"interface": interfaces[0] if len(interfaces) == 1 else interfaces} if interfaces else {}
    return json.dumps({"lldp": only}).encode()


def lldpd_json0(links: Links, device: str) -> bytes:
    """Return what lldpctl prints in its form `json0`: everything is a list."""
    interfaces = [
        {
            "name": port,
            "via": "LLDP",
            "chassis": [{"id": [{"type": "local", "value": peer.device}], "name": [{"value": peer.device}]}],
            "port": [{"id": [{"type": "ifname", "value": peer.port}], "descr": [{"value": peer.port}]}],
        }
        for port, peer in of(links, device)
    ]
    return json.dumps({"lldp": [{"interface": interfaces}]}).encode()


def eos_json(links: Links, device: str, drops: int = 0) -> bytes:
    """Return what EOS prints."""
    found = [
        {"port": port, "neighborDevice": f"{peer.device}.example.net", "neighborPort": peer.port, "ttl": 120}
        for port, peer in of(links, device)
    ]
    return json.dumps({"lldpNeighbors": found, "tablesDrops": drops, "tablesInserts": len(found)}).encode()


def sonic_table(links: Links, device: str) -> bytes:
    """Return what SONiC prints."""
    rows = [(port, peer.device, peer.port, "BR", f"to {device}") for port, peer in of(links, device)]
    head = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *rows]]
    lines.insert(1, "  ".join("-" * width for width in widths))
    lines.insert(0, "Capability codes: (R) Router, (B) Bridge, (O) Other")
    return "\n".join([*lines, "-" * 50, f"Total entries displayed:  {len(rows)}", ""]).encode()


FORMATS = (lldpd_json, lldpd_json0, eos_json, sonic_table)


def answers(links: Links, devices: Iterable[str]) -> list[Answer]:
    """Return what some devices answer, each in another format."""
    return [read(FORMATS[at % len(FORMATS)](links, device), device, device) for at, device in enumerate(devices)]


def subnet(cables: Wanted, links: Links, devices: Iterable[str] | None = None) -> str:
    """
    Return what ibnetdiscover prints of links.

    Switches are managed ones and have their port for reduction; each port of a host is an adapter of its own.
    """
    shown = list(cables.devices if devices is None else devices)
    text = "#\n# Topology file: generated on Sat Nov 28 06:00:00 2026\n#\n"
    for name in shown:
        device = cables.devices[name]
        own = of(links, name)
        if device.is_switch and own:
            text += _switch(cables, name, own)
        elif not device.is_switch:
            text += "".join(_adapter(cables, End(device=name, port=port), peer) for port, peer in own)
    return text


def guid(cables: Wanted, one: End) -> str:
    """Return the GUID of a switch, or of an adapter's port."""
    at = list(cables.devices).index(one.device) + 1
    device = cables.devices[one.device]
    port = 0 if device.is_switch else device.ports.index(one.port) + 1
    return f"{at:06x}0300{port:06x}"


def _quoted(cables: Wanted, one: End) -> str:
    """Return how a link's line names an end."""
    device = cables.devices[one.device]
    if device.is_switch:
        return f'"S-{guid(cables, one)}"[{device.ports.index(one.port) + 1}]'
    return f'"H-{guid(cables, one)}"[1]({guid(cables, one)})'


def described(cables: Wanted, one: End) -> str:
    """Return an end's node description."""
    return f"MF0;{one.device}:MQM9700/U1" if cables.devices[one.device].is_switch else f"{one.device} {one.port}"


def _switch(cables: Wanted, name: str, own: list[tuple[str, End]]) -> str:
    ports = cables.devices[name].ports
    number = guid(cables, End(device=name, port=ports[0]))
    lines = [f"switchguid=0x{number}({number})"]
    lines.append(f'Switch\t65 "S-{number}"\t\t# "MF0;{name}:MQM9700/U1" enhanced port 0 lid 1 lmc 0')
    for port, peer in own:
        lines.append(f'[{ports.index(port) + 1}]\t{_quoted(cables, peer)}\t\t# "{described(cables, peer)}" lid 3 4xNDR')
    lines.append(f'[65]\t"H-ffff{number[4:]}"[1](ffff{number[4:]})\t\t# "Mellanox Technologies Aggregation Node" lid 9')
    return "\n".join(lines) + "\n\n"


def _adapter(cables: Wanted, one: End, peer: End) -> str:
    number = guid(cables, one)
    head = f'caguid=0x{number}\nCa\t1 "H-{number}"\t\t# "{described(cables, one)}"\n'
    tail = f'lid 3 lmc 0 "{described(cables, peer)}" lid 1 4xNDR'
    return head + f"[1]({number})\t{_quoted(cables, peer)}\t\t# {tail}\n\n"


def read_subnet(cables: Wanted, links: Links) -> Answer:
    """Return what is read from ibnetdiscover's output of links."""
    return read(subnet(cables, links).encode(), "subnet.txt")
