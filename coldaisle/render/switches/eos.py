"""Arista EOS: the running configuration of a switch as text, with the multi-agent routing model."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from coldaisle.paths import packaged
from coldaisle.plan.model import BondPlan
from coldaisle.plan.overlay import RESERVED_VLANS
from coldaisle.render.overlay import EVPN_HOPS
from coldaisle.render.switches.view import Port, SwitchView

INTERNAL_VLANS = f"{RESERVED_VLANS['eos'][0]} {RESERVED_VLANS['eos'][-1]}"
"""VLANs that EOS takes for its routed ports; without words of ours, it takes any from 1006 on."""
LANES_TOLD_GBPS = 100
"""Rates from which EOS tells speeds of one lane from those of several."""
FALLBACK_S = 5
"""Wait for LACP before a port passes frames by itself: EOS waits 90 s, and firmware gives up on DHCP after a minute."""


def eos_config(view: SwitchView) -> str:
    """Return the configuration of a switch for `configure replace`."""
    overlay = view.overlay
    return _template().render(
        view=view,
        overlay=overlay,
        evpn_neighbors=overlay.neighbors if overlay else (),
        tenants=overlay.tenants if overlay else (),
        vlan_names={network.plan.vlan: network.title for network in overlay.networks} if overlay else {},
        relay_loopbacks={t.plan.name: t.relay_loopback for t in overlay.relaying} if overlay else {},
        internal_vlans=INTERNAL_VLANS,
        switch=view.switch,
        fabric=view.fabric,
        ip="ip" if view.family == "ipv4" else "ipv6",
        dscps=_dscps(view),
        speed=_speed,
        hops=EVPN_HOPS,
        segment=_segment,
        dotted=_dotted,
        fallback_s=FALLBACK_S,
    )


def _dscps(view: SwitchView) -> dict[int, str]:
    """Return the DSCPs of each traffic class as EOS lists them."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for dscp, priority in view.dscp_priorities().items():
        found[priority].append(dscp)
    return {priority: " ".join(map(str, dscps)) for priority, dscps in sorted(found.items())}


def _speed(port: Port) -> str | None:
    """Return speed and lanes as EOS names them; None where the catalog does not know the port's lanes."""
    if port.plan.lanes == 1 and port.rate_gbps < LANES_TOLD_GBPS:
        return f"{port.rate_gbps:g}g"
    return f"{port.rate_gbps:g}g-{port.plan.lanes}" if port.plan.lanes else None


def _segment(bond: BondPlan) -> str:
    """Return a bond's Ethernet segment as EOS writes it: type 0, the system's MAC, and the bond's number."""
    digits = f"00{bond.system_mac.replace(':', '')}{bond.number:06x}"
    return ":".join(digits[at : at + 4] for at in range(0, len(digits), 4))


def _dotted(mac: str) -> str:
    """Return a MAC as EOS writes LACP's system id."""
    digits = mac.replace(":", "")
    return ".".join(digits[at : at + 4] for at in range(0, len(digits), 4))


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(packaged("templates") / "switches"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - a switch's configuration, not HTML
    )
    return environment.get_template("eos.cfg.j2")
