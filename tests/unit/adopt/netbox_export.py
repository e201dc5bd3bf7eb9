"""
A planned site as NetBox would export it: answers of its REST API, an endpoint a file.

The form is that of NetBox' REST API documentation (version 4): nested objects with id and name, choices with value and
label, decimals of cables as numbers, terminations as lists of objects.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from coldaisle.plan.model import CablePlan, FabricPlan, NodePlan, SitePlan, SwitchPlan
from coldaisle.spec import SiteSpec

Row = dict[str, Any]
ROLES = {"bmc": "bmc", "management": "management", "switches": "switches"}


def page(rows: list[Row]) -> str:
    """Return rows as one whole answer."""
    return json.dumps({"count": len(rows), "next": None, "previous": None, "results": rows})


def choice(value: str) -> Row:
    """Return a choice as the API writes it."""
    return {"value": value, "label": value.title()}


class NetBox:
    """The objects of one site."""

    def __init__(self, spec: SiteSpec, plan: SitePlan) -> None:
        """Keep what is exported."""
        self.spec, self.plan = spec, plan
        self.ids = count(1)
        self.interfaces: dict[tuple[str, str], Row] = {}
        self.addresses: list[Row] = []

    def files(self) -> dict[str, str]:
        """Return the export by file name."""
        tables = {
            "sites": [{"id": 1, "name": self.plan.name, "slug": self.plan.name, "time_zone": self.spec.site.timezone}],
            **self.floor(),
            "devices": list(self.devices()),
            "cables": list(self.cables()),
            "prefixes": list(self.prefixes()),
        }
        tables |= {"interfaces": list(self.interfaces.values()), "ip-addresses": self.addresses}
        return {f"{name}.json": page(rows) for name, rows in tables.items()}

    # -- floor --------------------------------------------------------------------------------------------------
    def floor(self) -> dict[str, list[Row]]:
        """Return locations, racks and power."""
        locations: dict[tuple[str, str | None], Row] = {}
        racks, feeds = [], []
        for rack in self.spec.racks:
            hall = locations.setdefault((rack.hall, None), {"id": next(self.ids), "slug": rack.hall, "parent": None})
            row = locations.setdefault((rack.hall, rack.row), {"id": next(self.ids), "slug": rack.row, "parent": hall})
            weight = rack.spec.max_weight_kg
            racks.append({"id": next(self.ids), "name": rack.name, "u_height": rack.spec.height_u, "location": row,
                          "max_weight": weight, "weight_unit": choice("kg") if weight else None})  # fmt: skip
            feeds += [self.feed(rack.name, feed) for feed in rack.spec.power_feeds]
        panels = sorted({feed.upstream for rack in self.spec.racks for feed in rack.spec.power_feeds if feed.upstream})
        panel_rows = [{"id": next(self.ids), "name": name} for name in panels]
        return {"locations": list(locations.values()), "racks": racks, "power-panels": panel_rows, "power-feeds": feeds}

    def feed(self, rack: str, feed: Any) -> Row:  # noqa: ANN401 - a PowerFeed
        """Return a power feed; NetBox keeps no voltage reference."""
        derating = feed.derating or self.spec.facility.power.derating
        return {
            "id": next(self.ids),
            "name": f"{rack}-{feed.name}",
            "rack": {"name": rack},
            "power_panel": {"name": feed.upstream},
            "phase": choice("three-phase" if feed.phases == 3 else "single-phase"),
            "voltage": int(feed.voltage_v),
            "amperage": int(feed.breaker_a),
            "max_utilization": round(derating * 100),
        }

    # -- devices ------------------------------------------------------------------------------------------------
    def devices(self) -> Iterator[Row]:
        """Yield every device, and keep its interfaces and addresses."""
        for node in self.plan.nodes:
            yield self.node(node)
        for fabric in self.plan.fabrics.values():
            for switch in fabric.switches:
                yield self.switch(fabric, switch)
        for device in self.spec.facility.devices:
            yield self.device(device.name, device.model, "service", device.rack, device.rack_unit)
            for port in self.spec.catalog.systems[device.model].nics:
                self.interface(device.name, port)

    def device(self, name: str, model: str, role: str, rack: str | None, unit: int | None) -> Row:
        """Return a device without what only some have."""
        vendor = (self.spec.catalog.systems.get(model) or self.spec.catalog.switches[model]).vendor
        return {
            "id": next(self.ids),
            "name": name,
            "device_type": {"manufacturer": {"name": vendor}, "model": model.upper()},
            "role": {"slug": role, "name": role},
            "rack": {"name": rack} if rack else None,
            "position": unit,
            "serial": f"SN-{name.upper()}",
            "status": choice("active"),
            "cluster": None,
            "custom_fields": {},
        }

    def node(self, node: NodePlan) -> Row:
        """Return a node with its ports."""
        row = self.device(node.name, node.system, "gpu-node", node.rack, node.rack_unit)
        hardware = self.spec.hardware.get(node.name)
        row["cluster"] = {"name": node.pool}
        for nic in node.nics:
            self.interface(node.name, nic.name, mac=nic.mac, mtu=nic.mtu_bytes, address=nic.address)
        if node.bmc:
            subnet = self.spec.addressing.bmc
            length = subnet.subnet.partition("/")[2] if subnet else "32"
            mac = hardware.bmc_mac if hardware else None
            self.interface(node.name, "bmc", mac=mac, address=f"{node.bmc.address}/{length}", mgmt_only=True)
            row["oob_ip"] = {"address": f"{node.bmc.address}/{length}"}
        mgmt = self.spec.addressing.management.subnet.partition("/")[2]
        row["primary_ip4"] = {"address": f"{node.management_address}/{mgmt}"}
        return row

    def switch(self, fabric: FabricPlan, switch: SwitchPlan) -> Row:
        """Return a switch with all ports that it has."""
        row = self.device(switch.name, switch.model, f"{fabric.name}-{switch.role}", switch.rack, switch.rack_unit)
        row["platform"] = {"slug": switch.network_os} if switch.network_os else None
        row["custom_fields"] = {"asn": switch.asn}
        for port in fabric.ports.get(switch.role, ()):
            self.interface(switch.name, port.name, mtu=switch.mtu_bytes)
        if switch.management_port:
            length = switch.management_prefix_length
            address = f"{switch.management_address}/{length}" if switch.management_address else None
            self.interface(switch.name, switch.management_port, mac=switch.mac, address=address, mgmt_only=True)
            row["primary_ip4"] = {"address": address} if address else None
        if switch.loopback:
            self.interface(switch.name, "lo", address=f"{switch.loopback}/32", role="loopback")
        return row

    def interface(  # noqa: PLR0913 - what an interface has
        self,
        device: str,
        name: str,
        *,
        mac: str | None = None,
        mtu: int | None = None,
        address: str | None = None,
        mgmt_only: bool = False,
        role: str | None = None,
    ) -> Row:
        """Return an interface, made once, with an address where it has one."""
        row = self.interfaces.setdefault(
            (device, name),
            {"id": next(self.ids), "device": {"name": device}, "name": name, "mgmt_only": mgmt_only, "mtu": mtu,
             "mac_address": mac.upper() if mac else None, "untagged_vlan": None, "wwn": None},
        )  # fmt: skip
        if address:
            end = {"id": row["id"], "name": name, "device": {"name": device}}
            self.addresses.append({"id": next(self.ids), "address": address, "assigned_object": end, "dns_name": "",
                                   "role": choice(role) if role else None})  # fmt: skip
        return row

    # -- cables and prefixes ------------------------------------------------------------------------------------
    def cables(self) -> Iterator[Row]:
        """Yield every cable; a routed one keeps its addresses at its ends."""
        for fabric in self.plan.fabrics.values():
            for cable in fabric.cables:
                yield self.cable(cable)
                if fabric.kind == "ethernet" and cable.kind in {"node-leaf", "oob"}:
                    port = self.interface(cable.b.device, cable.b.port)
                    port["untagged_vlan"] = {"vid": fabric.access_vlan}

    def cable(self, cable: CablePlan) -> Row:
        """Return a cable, with the addresses of switch ends that no port has yet."""
        ends = []
        nodes = {node.name for node in self.plan.nodes}
        for end, address in ((cable.a, cable.a_address), (cable.b, cable.b_address)):
            mine = None if end.device in nodes else address
            port = self.interface(end.device, end.port, address=mine)
            there = {"id": port["id"], "name": end.port, "device": {"name": end.device}}
            ends.append([{"object_type": "dcim.interface", "object_id": port["id"], "object": there}])
        length = {"length": cable.length_m, "length_unit": choice("m") if cable.length_m else None}
        return {"id": next(self.ids), "a_terminations": ends[0], "b_terminations": ends[1],
                "status": choice("connected"), **length}  # fmt: skip

    def prefixes(self) -> Iterator[Row]:
        """Yield the subnets that addresses come from, with the roles of those that a spec knows."""
        addressing = self.spec.addressing
        pools = {"management": addressing.management, "bmc": addressing.bmc, "switches": addressing.switches,
                 "loopbacks": addressing.loopbacks, "fabric-links": addressing.fabric_links}  # fmt: skip
        for fabric in self.spec.fabrics.values():
            pools |= {f"{fabric.links}": fabric.links, f"{fabric.loopbacks}": fabric.loopbacks}
        seen: set[str] = set()
        for role, pool in pools.items():
            if pool is not None and pool.subnet not in seen:
                seen.add(pool.subnet)
                known = role in {*ROLES, "loopbacks", "fabric-links"}
                fields = {"gateway": pool.gateway} if pool.gateway else {}
                yield {"id": next(self.ids), "prefix": pool.subnet, "role": {"slug": role} if known else None,
                       "vlan": None, "custom_fields": fields}  # fmt: skip
