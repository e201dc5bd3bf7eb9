"""
Kayobe's configuration (`etc/kayobe`): inventory, networks and the addresses that it has handed out.

Kayobe names networks freely and says by role which is which: `admin_oc_net_name` is the one that hosts are managed on,
`oob_oc_net_name` that of the BMCs. Workload networks (`oob_wl_net_name`, `provision_wl_net_name`) are those of bare
metal compute hosts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath

from coldaisle.adopt.facts import Collector, Reading
from coldaisle.adopt.readers.ansible_inventory import Inventory, parse, plain
from coldaisle.adopt.readers.parsing import Json, address_of, number_of, short, subnet_of, yaml_of

ROLES: Mapping[str, str] = {
    "admin_oc_net_name": "management",
    "provision_wl_net_name": "management",
    "oob_oc_net_name": "bmc",
    "oob_wl_net_name": "bmc",
}
"""Roles of networks that a spec knows, in the order in which they are asked."""
NODE_GROUPS = ("compute", "baremetal-compute")
"""Groups whose hosts run what users run."""
INVENTORY_FILES = ("hosts", "groups")
BMC_VARIABLES = ("ipmi_address", "redfish_address", "bmc_address")


def read(files: Mapping[str, str]) -> Reading:
    """Return what a configuration tells; files are by their path below `etc/kayobe`."""
    into = Collector("kayobe")
    inventory, variables = Inventory(), _variables(files, into)
    for path, text in sorted(files.items()):
        if PurePath(path).name in INVENTORY_FILES and PurePath(path).parent.name == "inventory":
            parse(text, path, into, inventory)
    allocated = _allocated(files, into)
    if not inventory.hosts and not allocated and not into.problems:
        where = ", ".join(sorted(files)[:3]) or "kayobe"
        what = "there is neither inventory/hosts nor network-allocation.yml"
        into.unreadable(where, what, "give the folder that KAYOBE_CONFIG_PATH names")
    _site(variables, into)
    networks = dict(_networks(variables, into))
    for name, addresses in allocated.items():
        for role in networks.get(name, ()):
            _addresses(role, addresses, into)
    _hosts(inventory, files, into)
    return into.reading()


def _variables(files: Mapping[str, str], into: Collector) -> dict[str, Json]:
    wanted = ("networks.yml", "time.yml", "ntp.yml", "globals.yml", "dns.yml")
    found: dict[str, Json] = {}
    for path, text in sorted(files.items()):
        if PurePath(path).name in wanted and "kolla" not in PurePath(path).parts:
            found |= yaml_of(text, path, into)
    return found


def _site(variables: Mapping[str, Json], into: Collector) -> None:
    servers = variables.get("chrony_ntp_servers")
    names = [each.get("server") if isinstance(each, dict) else each for each in servers or ()]
    into.add(
        "site",
        "",
        "time.yml",
        timezone=plain(variables, "timezone"),
        ntp_servers=tuple(str(name) for name in names if name),
    )


def _networks(variables: Mapping[str, Json], into: Collector) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each network that has a role, with its roles; its own facts are kept."""
    roles: dict[str, list[str]] = {}
    for variable, role in ROLES.items():
        name = plain(variables, variable)
        if name and role not in roles.get(name, []):
            roles.setdefault(name, []).append(role)
    for name, mine in roles.items():
        for role in mine:
            into.add(
                "network",
                role,
                f"networks.yml {name}",
                subnet=subnet_of(plain(variables, f"{name}_cidr")),
                gateway=address_of(plain(variables, f"{name}_gateway")),
                first=address_of(plain(variables, f"{name}_allocation_pool_start")),
                vlan=number_of(plain(variables, f"{name}_vlan")),
                mtu=number_of(plain(variables, f"{name}_mtu")),
            )
        yield name, tuple(mine)


def _allocated(files: Mapping[str, str], into: Collector) -> dict[str, dict[str, Json]]:
    """Return addresses by network: `aio_ips` holds those of the network aio, by host."""
    found: dict[str, dict[str, Json]] = {}
    for path, text in sorted(files.items()):
        if PurePath(path).name == "network-allocation.yml":
            for key, value in yaml_of(text, path, into).items():
                if key.endswith("_ips") and isinstance(value, dict):
                    found.setdefault(key.removesuffix("_ips"), {}).update(value)
    return found


def _addresses(role: str, addresses: Mapping[str, Json], into: Collector) -> None:
    for host, value in addresses.items():
        name, _ = short(str(host))
        where, address = f"network-allocation.yml {host}", address_of(value)
        if role == "bmc":
            into.add("device", name, where, bmc_address=address)
        else:
            into.add("device", name, where, management_address=address)


def _hosts(inventory: Inventory, files: Mapping[str, str], into: Collector) -> None:
    nodes = {host for group in NODE_GROUPS for host in inventory.members(group)}
    for host, variables in inventory.hosts.items():
        name, domain = short(host)
        own: dict[str, Json] = {**variables, **_host_vars(host, files, into)}
        bmc = next((value for key in BMC_VARIABLES if (value := plain(own, key))), None)
        where = f"inventory/hosts {host}"
        into.add("site", "", where, domain=domain)
        into.add(
            "device",
            name,
            where,
            kind="node" if host in nodes else "device",
            bmc_address=address_of(bmc),
            management_address=address_of(plain(own, "ansible_host")),
            pool=_pool(host, inventory),
        )


def _host_vars(host: str, files: Mapping[str, str], into: Collector) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for path, text in sorted(files.items()):
        parts = PurePath(path).parts
        if "host_vars" in parts and PurePath(parts[parts.index("host_vars") + 1]).stem == host:
            found |= yaml_of(text, path, into)
    return found


def _pool(host: str, inventory: Inventory) -> str | None:
    """Return the one group within the node groups that a host is in; none where it is in the whole group only."""
    for group in NODE_GROUPS:
        for child in inventory.children.get(group, ()):
            if host in inventory.members(child):
                return child
    return None
