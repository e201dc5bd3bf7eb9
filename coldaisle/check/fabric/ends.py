"""Checks of a cable's two ends: one rate, and frames that fit through both."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.fabric.naming import end_name, tier_loc
from coldaisle.check.finding import Finding, finding
from coldaisle.plan.breakout import role_model
from coldaisle.plan.model import FabricPlan, SitePlan
from coldaisle.spec.catalog import Switch
from coldaisle.spec.sections import SiteSpec


def check_rates(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Both ends of a cable run at one rate."""
    systems = {node.name: node.system for node in spec.nodes} | {d.name: d.model for d in spec.facility.devices}
    for name, fabric in plan.fabrics.items():
        switches = {switch.name: switch for switch in fabric.switches}
        told: set[tuple[str, float, str]] = set()
        for cable in fabric.cables:
            system, switch = systems.get(cable.a.device, ""), switches.get(cable.b.device)
            nic_gbps = _nic_gbps(spec, system, cable.a.port)
            if nic_gbps is None or switch is None or (system, nic_gbps, switch.role) in told:
                continue
            told.add((system, nic_gbps, switch.role))
            model = role_model(spec.catalog, spec.fabrics[name], switch.role)
            # A port that does not exist has no rate, and another check tells of it.
            rates = _rates_by_port(model).get(cable.b.port)
            if rates and nic_gbps not in rates:
                what = f"{system} {cable.a.port} runs at {nic_gbps:g} Gb/s, and {switch.model} {cable.b.port} does not"
                have = f"it runs at {', '.join(f'{rate:g}' for rate in rates)} Gb/s"
                fix = "take a switch with ports of that rate"
                yield finding(spec, tier_loc(name, switch.role), "rate-mismatch", what=what, have=have, fix=fix)


def _nic_gbps(spec: SiteSpec, system: str, port: str) -> float | None:
    """Return the rate of a system's port, or None for a device or a port that the catalog does not list."""
    nic = spec.catalog.systems[system].nics.get(port) if system in spec.catalog.systems else None
    return nic.rate_gbps if nic else None


def check_uplink_rates(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A cable between two switches runs at a rate that both of its ports have."""
    for name, fabric in plan.fabrics.items():
        switches = {switch.name: switch for switch in fabric.switches}
        models = {role: role_model(spec.catalog, spec.fabrics[name], role) for role in _roles(fabric)}
        rates = {role: _rates_by_port(model) for role, model in models.items()}
        told: set[tuple[str, str]] = set()
        for cable in fabric.cables:
            lower, upper = switches.get(cable.a.device), switches.get(cable.b.device)
            if lower is None or upper is None or (lower.role, upper.role) in told:
                continue
            for switch, end in ((lower, cable.a), (upper, cable.b)):
                known = rates[switch.role].get(end.port)
                if known is None or cable.rate_gbps in known:
                    continue
                told.add((lower.role, upper.role))
                what = f"{end_name(cable.a)} and {end_name(cable.b)} have no rate in common"
                have = f"{switch.model} {end.port} runs at {', '.join(f'{rate:g}' for rate in known)} Gb/s"
                have = f"{have}, and the other end at {cable.rate_gbps:g}"
                fix = "take switches whose ports share a rate, or add it to also_gbps with its source"
                yield finding(spec, tier_loc(name, switch.role), "rate-mismatch", what=what, have=have, fix=fix)


def _roles(fabric: FabricPlan) -> list[str]:
    return list(dict.fromkeys(switch.role for switch in fabric.switches))


def _rates_by_port(model: Switch) -> dict[str, tuple[float, ...]]:
    return {
        block.port_name(index): (block.rate_gbps, *block.also_gbps)
        for block in model.ports
        for index in range(block.count)
    }


def check_mtu(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A node's frames fit through its switches, and the switches take frames of that size."""
    for name, fabric in plan.fabrics.items():
        asked = spec.fabrics[name]
        host, mtu = asked.node_mtu_bytes, fabric.mtu_bytes
        if host is not None and mtu is not None and host > mtu:
            what = f"nodes send {host} bytes, and the switches of fabric {name} pass {mtu}"
            fix = f"lower host_mtu_bytes to {mtu}, or raise mtu_bytes"
            yield finding(spec, ("fabrics", name, "host_mtu_bytes"), "mtu-mismatch", what=what, fix=fix)
        for model in dict.fromkeys(switch.model for switch in fabric.switches):
            most = spec.catalog.switches[model].max_mtu_bytes
            if mtu is not None and most is not None and mtu > most:
                what = f"fabric {name} passes {mtu} bytes, and {model} at most {most}"
                yield finding(
                    spec, ("fabrics", name, "mtu_bytes"), "mtu-mismatch", what=what, fix=f"lower mtu_bytes to {most}"
                )
