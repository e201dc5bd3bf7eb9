"""
One fabric of a spec, from its shape: what is read off its cables, port names and addresses.

What cannot be read off (which of several group sizes gives these cables) is a candidate, which `fabric_search` holds
against the cables with the planner itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network, ip_interface, ip_network
from math import ceil
from typing import Any

from coldaisle.adopt.estate import Estate
from coldaisle.adopt.fabric_shape import Hung, Shape, prefix_of
from coldaisle.adopt.facts import PortRef
from coldaisle.adopt.told import Gap, Told, cleaned, derived, said
from coldaisle.plan.breakout import model_of
from coldaisle.spec.catalog import NetworkOs, Switch
from coldaisle.spec.fabrics import SwitchGroup

NAMES = (("compute", "compute"), ("storage", "storage"), ("bmc", "oob"), ("management", "inband"), ("switch", "oob"))
"""Names of fabrics by the first of these roles that they connect."""
PLATFORMS: dict[str, NetworkOs] = {
    "cumulus": "cumulus", "cumulus-linux": "cumulus", "sonic": "sonic", "eos": "eos", "arista-eos": "eos", "frr": "frr",
    "nvos": "nvos", "mlnx-os": "mlnx-os", "onyx": "mlnx-os",
}  # fmt: skip
"""Operating systems of switches by slugs of NetBox platforms."""
_LINK_BITS = 1


@dataclass(frozen=True)
class FabricDraft:
    """A fabric's shape with everything that is read off it."""

    estate: Estate
    shape: Shape

    # -- switches -----------------------------------------------------------------------------------------------
    @property
    def lowest_tier(self) -> str:
        """Return the tier that hosts hang on."""
        return "leaf" if "leaf" in self.shape.tiers else "switch"

    def entry(self, tier: str) -> str:
        """Return the model of most switches of a tier."""
        devices = self.estate.devices
        return Counter(devices[name].entry for name in self.shape.tiers[tier]).most_common(1)[0][0]

    @cached_property
    def network_os(self) -> NetworkOs | None:
        """Return the operating system that most switches run, None where no source says it."""
        values = [self.estate.devices[name].value("platform") for name in self.shape.lowest]
        found = Counter(PLATFORMS[str(value)] for value in values if str(value) in PLATFORMS)
        return found.most_common(1)[0][0] if found else None

    def group_of(self, tier: str) -> SwitchGroup:
        """Return a tier's model with the breakout that its ports' names show."""
        used = {end.port for end in self._ends(tier)} | self._listed(tier)
        choices = [SwitchGroup(model=self.entry(tier)), *self._breakouts(tier, used)]
        fits = (group for group in choices if self._used(tier) <= set(self.model_as(group).port_names()))
        return next(fits, choices[0])

    def model_as(self, group: SwitchGroup) -> Switch:
        """Return a group's model, as its operating system names its ports."""
        catalog = self.estate.catalog
        first = next(iter(catalog.switches[group.model].network_os), None)
        return model_of(catalog, group, self.network_os or first)

    def _breakouts(self, tier: str, names: set[str]) -> Iterator[SwitchGroup]:
        model = self.entry(tier)
        for lanes in sorted({split for block in self.estate.catalog.switches[model].ports for split in block.splits}):
            half = SwitchGroup(model=model, breakout=lanes)
            cages = {port.rpartition("s")[0] or port for port in names & set(self._all_split(half))}
            yield half
            if cages:
                yield SwitchGroup(model=model, breakout=lanes, breakout_ports=len(cages))

    def _all_split(self, group: SwitchGroup) -> tuple[str, ...]:
        """Return the names of all ports of a model when every one is broken out."""
        first = self.estate.catalog.switches[group.model].ports[0]
        return self.model_as(group.model_copy(update={"breakout_ports": first.count})).port_names()

    def _used(self, tier: str) -> set[str]:
        return {end.port for end in self._ends(tier)}

    def _ends(self, tier: str) -> Iterator[PortRef]:
        members = set(self.shape.tiers[tier])
        yield from (each.upper for each in self.shape.hung if each.upper.device in members)
        yield from (end for ends in self.shape.inner for end in ends if end.device in members)

    def _listed(self, tier: str) -> set[str]:
        ports = self.estate.ports_of
        return {port for name in self.shape.tiers[tier] for port in ports.get(name, {})}

    def placed(self, tier: str) -> dict[str, Any]:
        """Return racks and rack units of a tier, where its switches stand as a spec writes them: rack by rack."""
        devices = [self.estate.devices[name] for name in self.shape.tiers[tier]]
        places = [(device.value("rack"), device.value("rack_unit")) for device in devices]
        if any(None in place for place in places):
            return {"racks": _no_place(tier)}
        racks = list(dict.fromkeys(str(rack) for rack, _ in places))
        units = [unit for rack, unit in places if rack == racks[0]]
        walked = [(rack, unit) for rack in racks for unit in units][: len(places)]
        if walked != [(str(rack), unit) for rack, unit in places]:
            return {"racks": _no_order(tier)}
        return {"racks": derived(racks, "the places of its switches"), "rack_units": units}

    def naming(self, tier: str, default: str) -> dict[str, Any]:
        """Return the beginning of a tier's names, where it is another than the planner's own."""
        prefix = prefix_of(self.shape.tiers[tier][0])[0]
        return {} if prefix == default else {"name": prefix}

    def tier_data(self, tier: str, name: str) -> dict[str, Any]:
        """Return a tier as a spec writes it."""
        group = self.group_of(tier)
        switch = self.estate.catalog.switches[group.model]
        draw = None if switch.max_power_w else _no_draw(group.model)
        split = {"breakout": group.breakout, "breakout_ports": group.breakout_ports}
        counted = tier == "spine" and "core" not in self.shape.tiers
        count = len(self.shape.tiers[tier]) if counted else None
        default = name if tier == "switch" else tier
        own = {"model": group.model, **self.naming(tier, default), "count": count, **split, **self.placed(tier)}
        return cleaned({**own, "max_power_w": draw})

    # -- hosts --------------------------------------------------------------------------------------------------
    @cached_property
    def model(self) -> Switch:
        """Return the model of the switches that hosts hang on, with its ports as they are broken out."""
        return self.model_as(self.group_of(self.lowest_tier))

    @cached_property
    def slots(self) -> dict[str, int]:
        """Return the place of each port name on such a switch."""
        return {name: slot for slot, name in enumerate(self.model.port_names())}

    @cached_property
    def indexes(self) -> dict[str, int]:
        """Return the place of each switch among those that hosts hang on."""
        return {name: index for index, name in enumerate(self.shape.lowest)}

    @cached_property
    def nodes(self) -> dict[str, list[Hung]]:
        """Return the cables of each node, by rail and port."""
        nodes = self.estate.of("node")
        found: defaultdict[str, list[Hung]] = defaultdict(list)
        for each in self.shape.hung:
            if each.lower.device in nodes and each.role not in {"other", "switch"}:
                found[each.lower.device].append(each)
        return dict(found)

    @cached_property
    def others(self) -> tuple[Hung, ...]:
        """Return cables of service hosts' known ports, and of management ports of switches."""
        nodes = self.estate.of("node")
        return tuple(each for each in self.shape.hung if each.role != "other" and each.lower.device not in nodes)

    @cached_property
    def managers(self) -> tuple[Hung, ...]:
        """Return cables of InfiniBand fabric managers: of devices' ports that their entry of the catalog lacks."""
        if self.kind != "infiniband":
            return ()
        devices = self.estate.of("device")
        return tuple(each for each in self.shape.hung if each.role == "other" and each.lower.device in devices)

    @cached_property
    def connects(self) -> list[str]:
        """Return the roles of the ports that hang on it, in the order of their places on a switch."""
        first: dict[str, int] = {}
        hung = [each for cables in self.nodes.values() for each in cables] or self.others
        for each in hung:
            slot = self.slots.get(each.upper.port, 0)
            first[each.role] = min(slot, first.get(each.role, slot))
        roles = sorted((role for role in first if role != "switch"), key=lambda role: (first[role], role))
        return [*roles, *(["switch"] if any(each.role == "switch" for each in self.others) else [])]

    @property
    def name(self) -> str:
        """Return a name for the fabric, by what it connects."""
        return next((name for role, name in NAMES if role in self.connects), "fabric")

    @cached_property
    def kind(self) -> str:
        """Return InfiniBand by its switches, RoCE where links to hosts are routed, else Ethernet."""
        if self.estate.catalog.switches[self.entry(self.lowest_tier)].kind == "infiniband":
            return "infiniband"
        ends = [each.lower for cables in self.nodes.values() for each in cables]
        routed = [address for end in ends if (address := self.address(end))]
        return "roce" if routed and all(_is_link(address) for address in routed) else "ethernet"

    def address(self, port: PortRef) -> str | None:
        """Return a port's address with its prefix length."""
        value = self.estate.port_value(port, "address")
        return None if value is None else str(value)

    @cached_property
    def planes(self) -> int:
        """Return how many planes the nodes' ports are of."""
        return 1 + max((self.nic(each).plane for cables in self.nodes.values() for each in cables), default=0)

    def nic(self, hung: Hung) -> Any:  # noqa: ANN401 - a SystemNic
        """Return the catalog's entry of a node's port."""
        return self.estate.catalog.systems[self.estate.devices[hung.lower.device].entry].nics[hung.lower.port]

    @cached_property
    def rails(self) -> int:
        """Return the leaves of a plane that a node's ports are spread over by rail; 1 where they are not."""
        seen = {
            (self.nic(each).rail, self.indexes[each.upper.device])
            for cables in self.nodes.values()
            for each in cables
            if each.upper.device in self.indexes
        }
        rails = {rail for rail, _ in seen}
        if None in rails or len(rails) < 2:  # noqa: PLR2004 - one rail is none
            return 1
        spread = len(rails) * self.planes
        fits = all(index % spread % len(rails) == rail for rail, index in seen if rail is not None)
        return len(rails) if fits else 1

    @cached_property
    def one_rail(self) -> bool:
        """Tell whether the only rail is one to its hosts: each sends what is from this port's address by this port."""
        ends = [each for cables in self.nodes.values() for each in cables]
        own = (
            self.estate.port_value(each.lower, "own_rule") == "yes" and self.nic(each).rail is not None for each in ends
        )
        return self.rails == 1 and bool(ends) and all(own)

    @property
    def group_leaves(self) -> int:
        """Return the leaves that a group of nodes shares."""
        return self.rails * self.planes

    @cached_property
    def place_ports(self) -> int:
        """Return the ports of one switch that a node takes at most."""
        if self.rails > 1:
            return 1
        taken = (Counter(each.upper.device for each in cables) for cables in self.nodes.values())
        return max((max(count.values()) for count in taken), default=1)

    @cached_property
    def down_ports(self) -> int:
        """Return the ports of a switch that look down: those before its first uplink."""
        if not self.shape.inner:
            return self.model.port_count if len(self.model.ports) == 1 else self.model.ports[0].count
        members = self.indexes
        ups = (self.slots.get(end.port) for ends in self.shape.inner for end in ends if end.device in members)
        return min((slot for slot in ups if slot is not None), default=self.model.port_count // 2)

    def place(self, cables: list[Hung]) -> tuple[int, int]:
        """Return the group of a node and its place there."""
        known = [each for each in cables if each.upper.device in self.indexes and each.upper.port in self.slots]
        if not known:
            return 0, 0
        group = self.indexes[known[0].upper.device] // self.group_leaves
        return group, min(self.slots[each.upper.port] for each in known) // self.place_ports

    # -- numbers ------------------------------------------------------------------------------------------------
    def uplinks_per_spine(self) -> int | None:
        """Return the parallel cables of each pair of a leaf and a spine, None where pairs differ."""
        leaves = set(self.shape.tiers.get("leaf", ()))
        pairs = Counter(tuple(sorted(end.device for end in ends)) for ends in self.shape.inner
                        if any(end.device in leaves for end in ends))  # fmt: skip
        return next(iter(pairs.values())) if len(set(pairs.values())) == 1 else None

    def oversubscription(self) -> float:
        """Return the worst leaf's rate to hosts over its rate upwards, and at least 1."""
        down: Counter[str] = Counter()
        up: Counter[str] = Counter()
        rates = [block.rate_gbps for block in self.model.ports for _ in range(block.count)]
        for each in (each for cables in self.nodes.values() for each in cables):
            down[each.upper.device] += self.nic(each).rate_gbps
        for end in (end for ends in self.shape.inner for end in ends if end.device in self.indexes):
            up[end.device] += int(rates[min(self.slots.get(end.port, 0), len(rates) - 1)])
        worst = max((down[leaf] / rate for leaf, rate in up.items() if rate), default=1.0)
        return max(1.0, ceil(worst * 100) / 100)

    def pool(self, addresses: list[str], what: str) -> Any:  # noqa: ANN401 - a part of a spec
        """Return the smallest prefix that a source has around some addresses, or a gap."""
        found = [ip_network(name) for name in self.estate.merged.of("subnet")]
        around = [net for net in found if net.prefixlen < net.max_prefixlen - _LINK_BITS and _holds(net, addresses)]
        if not around:
            return _no_pool(what) if addresses else None
        smallest = max(around, key=lambda net: net.prefixlen)
        return {"subnet": Told(str(smallest), "netbox")}

    def link_addresses(self) -> list[str]:
        """Return the addresses of both ends of its links, where they are point-to-point."""
        ends = [end for ends in self.shape.inner for end in ends]
        if self.kind == "roce":
            ends += [end for cables in self.nodes.values() for each in cables for end in (each.lower, each.upper)]
        return [address for end in ends if (address := self.address(end)) and _is_link(address)]

    def loopbacks(self) -> list[str]:
        """Return the loopbacks of its switches."""
        values = (self.estate.devices[name].value("loopback") for tier in self.shape.tiers.values() for name in tier)
        return [str(value) for value in values if value is not None]

    def access_vlan(self) -> Any:  # noqa: ANN401 - a part of a spec
        """Return the VLAN of most ports that are not routed, else the one of the networks that it connects."""
        found = Counter(self.estate.port_value(each.upper, "vlan") for each in self.shape.hung)
        found.pop(None, None)
        if found:
            return derived(found.most_common(1)[0][0], "the untagged VLAN of its ports")
        networks = self.estate.merged.of("network")
        known = [networks[role]["vlan"] for role in self.connects if "vlan" in networks.get(role, {})]
        return said(known[0]) if len({each.value for each in known}) == 1 else None

    def mtu(self, *, hosts: bool) -> Any:  # noqa: ANN401 - a part of a spec
        """Return the MTU that most ports have, of hosts or of switches."""
        ends = [end for ends in self.shape.inner for end in ends]
        ends += [each.upper for each in self.shape.hung]
        if hosts:
            ends = [each.lower for cables in self.nodes.values() for each in cables]
        found = Counter(self.estate.port_value(end, "mtu") for end in ends)
        found.pop(None, None)
        return derived(found.most_common(1)[0][0], "the MTU of its ports") if found else None


def _is_link(address: str) -> bool:
    network = ip_interface(address).network
    return network.prefixlen == network.max_prefixlen - _LINK_BITS


def _holds(network: IPv4Network | IPv6Network, addresses: list[str]) -> bool:
    return bool(addresses) and all(ip_interface(address).ip in network for address in addresses)


def _no_place(tier: str) -> Gap:
    look = "the racks themselves, or their pages in NetBox"
    return Gap(what=f"where the {tier} switches stand", look=look, write="racks and rack_units, rack by rack")


def _no_order(tier: str) -> Gap:
    what = f"the places of the {tier} switches follow no order of racks and rack units"
    return Gap(what=what, look="the rack pages", write="racks and rack_units that give each switch its place")


def _no_draw(model: str) -> Gap:
    look = f"the data sheet of {model}, with the optics that are plugged in; or the PDU's reading"
    return Gap(what="what one switch draws at most", look=look, write="watts, such as 600")


def _no_pool(what: str) -> Gap:
    look = "the address plan, or NetBox' prefixes around these addresses"
    return Gap(what=f"the subnet that {what} are handed out of", look=look, write="{subnet: 10.0.0.0/20}")
