"""
Configurations of a leaf-spine fabric with EVPN-VXLAN by pyavd, for a Python that has it and nothing of ours.

Arguments: spines, leaves, servers of a leaf, tenants, networks of a tenant, and a folder for the configurations. It
prints the CPU seconds as JSON; imports, which a first small fabric brings about, and the files are not in them.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from pyavd import (  # type: ignore[import-not-found]  # it has an environment of its own
    get_avd_facts,
    get_device_config,
    get_device_structured_config,
    validate_inputs,
)
from pyavd.api.schemas import AVDDesign  # type: ignore[import-not-found]


def design(spines: list[str], leaves: list[str], servers: int, tenants: int, networks: int) -> dict[str, Any]:
    """Return the fabric as pyavd's design takes it: the variables that all devices share."""
    return {
        "fabric_name": "F",
        "underlay_routing_protocol": "ebgp",
        "overlay_routing_protocol": "ebgp",
        "p2p_uplinks_mtu": 9200,
        "spine": {
            "defaults": {"platform": "default", "bgp_as": "4200000000", "loopback_ipv4_pool": "10.127.1.0/24"},
            "nodes": [{"name": name, "id": index + 1} for index, name in enumerate(spines)],
        },
        "l3leaf": {"defaults": leaf_defaults(spines), "nodes": leaf_nodes(leaves, len(spines))},
        "tenants": [tenant(number, networks) for number in range(tenants)],
        "servers": [
            server(leaf, f"n{at * servers + port + 1:04d}", port, tenants * networks)
            for at, leaf in enumerate(leaves)
            for port in range(servers)
        ],
    }


def leaf_defaults(spines: list[str]) -> dict[str, Any]:
    """Return what all leaves share: pools, and an uplink to each spine."""
    return {
        "platform": "default",
        "mlag": False,
        "loopback_ipv4_pool": "10.127.0.0/24",
        "vtep_loopback_ipv4_pool": "10.126.0.0/24",
        "uplink_ipv4_pool": "10.128.0.0/16",
        "uplink_interfaces": [f"Ethernet{33 + index}/1" for index in range(len(spines))],
        "uplink_switches": spines,
        "max_uplink_switches": len(spines),
        "virtual_router_mac_address": "02:00:5e:00:00:01",
    }


def leaf_nodes(leaves: list[str], spines: int) -> list[dict[str, Any]]:
    """Return each leaf with its number, and its port on every spine."""
    return [
        {
            "name": name,
            "id": index + 1,
            "bgp_as": str(4200000001 + index),
            "uplink_switch_interfaces": [f"Ethernet{index + 1}/1"] * spines,
        }
        for index, name in enumerate(leaves)
    ]


def tenant(number: int, networks: int) -> dict[str, Any]:
    """Return a tenant: a VRF with networks that every leaf is a gateway of."""
    first = 100 + number * networks
    svis = [
        {
            "id": first + network,
            "name": f"net{network}",
            "enabled": True,
            "ip_address_virtual": f"10.{192 + number}.{network * 4}.1/22",
        }
        for network in range(networks)
    ]
    vrf = {"name": f"t{number}", "vrf_vni": 50000 + number, "svis": svis}
    return {"name": f"t{number}", "mac_vrf_vni_base": 10000, "vrfs": [vrf]}


def server(leaf: str, name: str, port: int, vlans: int) -> dict[str, Any]:
    """Return a server with a port that carries every network, the first without a tag."""
    adapter = {
        "switches": [leaf],
        "switch_ports": [f"Ethernet{port + 1}/1"],
        "endpoint_ports": ["mgmt0"],
        "mode": "trunk",
        "vlans": f"100-{99 + vlans}",
        "native_vlan": 100,
        "spanning_tree_portfast": "edge",
    }
    return {"name": name, "adapters": [adapter]}


def configurations(spines: list[str], leaves: list[str], shared: dict[str, Any]) -> dict[str, str]:
    """Return the configuration of each device, in the steps that pyavd's documentation gives."""
    inputs = {}
    for name in (*spines, *leaves):
        result = validate_inputs({**shared, "type": "spine" if name in spines else "l3leaf"})
        if result.validated_data is None:
            sys.exit(f"{name}: {result.validation_result}")
        inputs[name] = AVDDesign._from_dict(result.validated_data)  # noqa: SLF001 - once, as its own functions do
    facts = get_avd_facts(inputs)
    return {name: get_device_config(get_device_structured_config(name, one, facts)) for name, one in inputs.items()}


def main() -> None:
    """Write the configurations, and print the CPU seconds that they took."""
    *numbers, folder = sys.argv[1:]
    spine_count, leaf_count, servers, tenants, networks = map(int, numbers)
    spines = [f"spine{index + 1:02d}" for index in range(spine_count)]
    leaves = [f"leaf{index + 1:02d}" for index in range(leaf_count)]
    # Its functions import as they go, which shall not count.
    configurations(spines[:1], leaves[:1], design(spines[:1], leaves[:1], 1, 1, 1))
    started = time.process_time()
    found = configurations(spines, leaves, design(spines, leaves, servers, tenants, networks))
    used = time.process_time() - started
    for name, text in found.items():
        (Path(folder) / f"{name}.cfg").write_text(text, encoding="utf-8")
    sys.stdout.write(json.dumps(used))


main()
