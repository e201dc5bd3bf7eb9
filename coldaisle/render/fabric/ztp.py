"""
First boot of switches (ZTP): DHCP reservations that name a script, and scripts that fetch, check and apply.

A script is a switch's own, so that nothing on the switch must know who it is, and holds the SHA-256 of the
configuration that was rendered with it. Source of the options: Cumulus Linux User Guide, Zero Touch Provisioning (239,
and the word CUMULUS-AUTOPROVISIONING in the script); SONiC, doc/ztp/ztp.md (239, or 67 for a JSON file, not both);
Arista EOS User Manual, Zero Touch Provisioning (67, a script that begins with #!).
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from coldaisle.plan import plan_hash
from coldaisle.plan.model import SitePlan, SwitchPlan
from coldaisle.render.files import bare_address, render
from coldaisle.render.switches import SwitchConfig, switch_configs
from coldaisle.units import some_of

SCRIPT_OPTIONS = {"cumulus": 239, "sonic": 239, "eos": 67}
"""DHCP option that names the script, by operating system."""

PLAIN_URL = re.compile(r"(https?|file)://[A-Za-z0-9._~:/\[\]@%-]+")


@dataclass(slots=True)
class FirstBoot:
    """The files of a first boot by name, and the switches that lack something, by the reason."""

    files: dict[str, str] = field(default_factory=dict)
    lacking: dict[str, list[str]] = field(default_factory=dict)

    def lacks(self, switch: str, why: str) -> None:
        """Note what a switch has not, and why."""
        self.lacking.setdefault(why, []).append(switch)

    @property
    def notes(self) -> list[str]:
        """Return what could not be written, a line a reason, with the first few of its switches."""
        return [f"{why}: {some_of(names)}" for why, names in self.lacking.items()]


@dataclass(frozen=True, slots=True)
class _Reservation:
    """What DHCP answers to one switch."""

    name: str
    mac: str
    address: str
    option: int
    url: str


@dataclass(frozen=True, slots=True)
class _Range:
    network: str
    netmask: str
    gateway: str | None


def default_url(plan: SitePlan) -> str | None:
    """Return where the provisioning host would serve the files; None where the site has none."""
    host = plan.provisioning
    return None if host is None else f"http://{bare_address(host.host_address)}:{host.http_port}/ztp"


def first_boot(plan: SitePlan, url: str, fabrics: tuple[str, ...] | None = None) -> FirstBoot:
    """
    Return everything that a first boot of the Ethernet switches needs.

    Args:
        plan: The site's plan.
        url: Where the files below `http/` are served, over HTTP or HTTPS.
        fabrics: Only these fabrics; left out, all that are not InfiniBand.

    Raises:
        LookupError: there is no such fabric.
        ValueError: the URL is none, or has letters that scripts and DHCP servers would read otherwise.
    """
    if not PLAIN_URL.fullmatch(url):
        raise ValueError(
            f"{url} is no URL that a script can hold: write it as http://HOST:PORT/PATH, with %XX for others"
        )
    out = FirstBoot()
    switches = {switch.name: switch for fabric in plan.fabrics.values() for switch in fabric.switches}
    reserved = []
    for config in switch_configs(plan, fabrics):
        option = SCRIPT_OPTIONS.get(config.system or "")
        if config.text is None or option is None:
            why = config.why or f"{config.system} has no first boot of this kind"
            out.lacks(config.switch, f"no script: {why}")
            continue
        _write(plan, out, config, url.rstrip("/"))
        found = _reservation(switches[config.switch], option, f"{url.rstrip('/')}/{config.switch}.sh")
        if isinstance(found, str):
            out.lacks(config.switch, f"no reservation: {found}")
        else:
            reserved.append(found)
    if reserved:
        _dhcp(plan, out, [switches[one.name] for one in reserved], reserved)
    return out


def _write(plan: SitePlan, out: FirstBoot, config: SwitchConfig, url: str) -> None:
    """Add a switch's configuration and its script."""
    text, digest = config.text or "", plan_hash(plan)
    out.files[f"http/{config.file_name}"] = text
    out.files[f"http/{config.switch}.sh"] = render(
        f"ztp/{config.system}.sh.j2",
        origin=f"{config.switch} of {plan.name}, fabric {config.fabric}, plan {digest}",
        plan=digest[:12],
        switch=config.switch,
        file=config.file_name,
        url=f"{url}/{config.file_name}",
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )


def _reservation(switch: SwitchPlan, option: int, url: str) -> _Reservation | str:
    """Return the reservation of a switch, or why there is none."""
    if switch.mac is None:
        return "the MAC of its management port is not known: add it to switch_hardware"
    if switch.management_address is None:
        return "it has no management address: give addressing.switches a pool"
    if ipaddress.ip_address(switch.management_address).version != 4:  # noqa: PLR2004 - DHCP is of version 4
        return "its management address is of IPv6, and DHCPv6 is not written"
    return _Reservation(switch.name, switch.mac, switch.management_address, option, url)


def _dhcp(plan: SitePlan, out: FirstBoot, switches: Iterable[SwitchPlan], reserved: list[_Reservation]) -> None:
    served = {plan.provisioning.subnet} if plan.provisioning else set()
    values = {
        "origin": f"site {plan.name}, first boot of switches, plan {plan_hash(plan)}",
        "ranges": [one for net, one in sorted(_ranges(switches)) if net not in served],
        "switches": reserved,
    }
    for name in ("dnsmasq.conf", "dhcpd.conf"):
        out.files[f"dhcp/{name}"] = render(f"ztp/{name}.j2", **values)


def _ranges(switches: Iterable[SwitchPlan]) -> Iterator[tuple[str, _Range]]:
    """Yield the networks of switches' management ports, each once."""
    found: dict[str, _Range] = {}
    for switch in switches:
        network = ipaddress.ip_interface(f"{switch.management_address}/{switch.management_prefix_length}").network
        gateway = switch.management_gateway
        found.setdefault(str(network), _Range(str(network.network_address), str(network.netmask), gateway))
    yield from found.items()
