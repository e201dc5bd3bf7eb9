"""
The spec of a hall of light hosts: any number of nodes in racks of sixteen, one rail, one switch a rail.

Its figures are ours: they describe programs, not machines. The addresses are of 100.64.0.0/10, which no public network
uses (RFC 6598), and nothing outside of the hall's own namespaces sees them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from coldaisle.paths import state_dir
from coldaisle.render.hosts import shown
from sim.hall.plan import hall_name
from sim.parts import delivered

GPUS = 8
NODES_PER_RACK = 16
MAX_NODES = 5_000
"""Figures of the provider are of so many; the programs of the BMCs have ports for a little more (sim.bmc.server)."""

PORTS = 1_544, 10_000
"""Ports of a switch, at least and at most: a BMC and a host take one each. More than the catalog's limit are two."""

BOOT_TIMEOUT_S = 40
"""A light host is up in a second; hundreds that are turned on at once take turns."""

LIMITS = {
    "hpl_gflops": 10000,
    "host_to_device_gb_s": 50,
    "device_to_host_gb_s": 50,
    "device_to_device_gb_s": 350,
    "all_reduce_node_gb_s": 450,
    "all_reduce_rail_gb_s": 1,
    "all_reduce_fabric_gb_s": 1,
    "rdma_write_gbps": 9,
    "disk_read_mb_s": 3000,
    "disk_write_mb_s": 3000,
    "gpu_temperature_c": 85,
}
"""What a light host has to reach: under what the stand-ins of its tools tell of a machine in order (sim.measures)."""

SOURCE = "simulated: chosen for this site"


def write(folder: Path, nodes: int, name: str = "hall", *, serials: bool = False, a_rack: int = NODES_PER_RACK) -> Path:
    """
    Write the spec of a hall of `nodes` light hosts, so many in `a_rack`, into a folder, and return the folder.

    With `serials` the delivery list names every part: some thirty lines more a node.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "site.yaml").write_text(
        yaml.safe_dump(sections(nodes, name, serials=serials, a_rack=a_rack), sort_keys=False), encoding="utf-8"
    )
    return folder


def sections(nodes: int, name: str, *, serials: bool = False, a_rack: int = NODES_PER_RACK) -> dict[str, Any]:
    """Return the sections of the spec; ValueError when there are more nodes than a hall takes."""
    if not 1 <= nodes <= MAX_NODES:
        raise ValueError(f"a hall has 1 to {MAX_NODES} nodes, not {nodes}")
    racks = [f"r{number:02}" for number in range(1, 1 + -(-nodes // a_rack))]
    places = {f"{racks[at // a_rack]}-n{1 + at % a_rack:02}": at for at in range(nodes)}
    kept = shown(state_dir(hall_name(name)))
    return {
        "site": {
            "name": name,
            "domain": f"{name}.example.net",
            "timezone": "Etc/UTC",
            "ntp_servers": ["100.97.255.254"],
            "admin_user": "ops",
            "admin_key_file": f"{kept}/keys/id_ed25519",
            "bmc_ca_file": f"{kept}/pki/ca.crt",
            "evidence": {
                "signing_key_file": f"{kept}/keys/evidence_ed25519",
                "folder": f"{kept}/evidence",
            },
            "bmc_credentials": f"file:{kept}/secrets/bmc.yaml",
        },
        "catalog": _catalog(nodes),
        "facility": _facility(racks, nodes),
        "addressing": {
            "bmc": {"subnet": "100.96.0.0/16", "first": "100.96.0.11"},
            "management": {"subnet": "100.97.0.0/16", "first": "100.97.0.11", "gateway": None},
            "switches": {"subnet": "100.98.0.0/24", "first": "100.98.0.11"},
            "loopbacks": {"subnet": "100.98.1.0/24"},
            "fabric_links": {"subnet": "100.99.0.0/16"},
            "asn": {"spine": 65100, "leaf_first": 65101},
        },
        "hardware": {node: _delivered(at) | (delivered(node, GPUS) if serials else {}) for node, at in places.items()},
        "node_pools": {"light": _pool(places, a_rack)},
        "fabrics": _fabrics(nodes),
    }


def _catalog(nodes: int) -> dict[str, Any]:
    common = {"vendor": "coldaisle", "source": SOURCE}
    system = {
        "description": "a host that shares its kernel, with one rail port and eight simulated GPUs",
        "architecture": "x86_64",
        "firmware": "bios",
        "height_u": 2,
        "max_power_w": 200,
        "weight_kg": 20,
        "air_share": 1.0,
        "psus": {"count": 2, "needed": 1, "needed_to_boot": 1},
        "gpus": {"model": "h100-sxm5", "count": GPUS},
        "boot_nic": "mgmt0",
        "nics": {
            "bmc": {"rate_gbps": 1, "role": "bmc"},
            "mgmt0": {"rate_gbps": 10, "role": "management", "numa": 0},
            "rail0": {"rate_gbps": 10, "role": "compute", "rail": 0, "gpu": 0, "numa": 0},
        },
    }
    ports = min(PORTS[1], max(PORTS[0], 2 * nodes + 8))
    switch = {
        "kind": "ethernet",
        "height_u": 1,
        "ports": [{"count": ports, "rate_gbps": 10, "also_gbps": [1]}],
        "max_power_w": 50,
        "weight_kg": 5,
        "psus": {"count": 2, "needed": 1},
        "management_port": "eth0",
        "management_gbps": 1,
        "max_mtu_bytes": 9216,
        "network_os": ["frr"],
    }
    limits = {"acceptance": {"hall-light-limits": {"systems": ["hall-light"], **LIMITS, "source": SOURCE}}}
    return {"systems": {"hall-light": system | common}, "switches": {"hall-switch": switch | common}, **limits}


def _facility(racks: list[str], nodes: int) -> dict[str, Any]:
    feed = {"voltage_v": 415, "voltage_reference": "line-to-line", "phases": 3, "breaker_a": 32}
    feeds = [{"name": side, **feed, "upstream": f"ups-{side}"} for side in "ab"]
    rack = {"height_u": 42, "max_weight_kg": 1360, "cooling": "crah1", "power_feeds": feeds}
    row = {"name": "row1", "racks": [{"name": name, **rack, "position_m": 0.6 * at} for at, name in enumerate(racks)]}
    watts = 250 * nodes + 1000
    ups = [{"name": f"ups-{side}", "kind": "ups", "capacity_w": 2 * watts, "fed_by": "utility"} for side in "ab"]
    air = {"name": "crah1", "kind": "air", "units": 2, "redundant": 1, "temperature_rise_k": 12}
    return {
        "halls": [{"name": "hall1", "rows": [row]}],
        "power": {"derating": 0.8, "upstream": [{"name": "utility", "kind": "utility", "capacity_w": 4 * watts}, *ups]},
        "cooling": [air | {"capacity_w_each": watts}],
    }


def _delivered(at: int) -> dict[str, Any]:
    """Return a node's part of the delivery list: the protocols take turns, so that both are exercised."""
    base = f"52:54:01:{at >> 8:02x}:{at & 0xFF:02x}"
    macs = {"mgmt0": f"{base}:01", "rail0": f"{base}:02"}
    return {"bmc_protocol": "ipmi" if at % 2 else "redfish", "bmc_mac": f"{base}:00", "macs": macs}


def _pool(places: dict[str, int], a_rack: int) -> dict[str, Any]:
    nodes = {name: {"rack": name.partition("-")[0], "rack_unit": 1 + 2 * (at % a_rack)} for name, at in places.items()}
    return {
        "system": "hall-light",
        "role": "serving",
        "nodes": nodes,
        "boot": "image-installed",
        "gpu": {
            "driver_floor": "580.95.05",
            "persistence": True,
            "fabric_state": "Completed",
            "max_uncorrected_ecc": 0,
        },
        # A hall has no switches that could answer on a rail.
        "os": {
            "sysctl": {"net.ipv4.tcp_mtu_probing": "1"},
            "boot_timeout_s": BOOT_TIMEOUT_S,
            "verify_path_mtu": False,
        },
    }


def _fabrics(nodes: int) -> dict[str, Any]:
    switch = {"model": "hall-switch", "racks": ["r01"]}
    return {
        "compute": {
            "kind": "roce",
            "topology": "leaf-spine",
            "connects": ["compute"],
            "rail_optimized": True,
            "rails": 1,
            "leaf": switch | {"rack_units": [40]},
            "spine": switch | {"rack_units": [41], "count": 1},
            "uplinks_per_spine": 1,
            "oversubscription": nodes,
            "mtu_bytes": 9216,
            "host_mtu_bytes": 9000,
            "roce": {"dscp": 26, "priority": 3},
        },
        "oob": {
            "kind": "ethernet",
            "topology": "single",
            "connects": ["bmc", "management", "switch"],
            "switch": switch | {"rack_units": [42]},
            "mtu_bytes": 1500,
        },
    }
