"""A site whose nodes have RDMA over a VLAN on a bond, made from the simulated one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

SIM = Path(__file__).parents[1] / "inventory" / "sim"
PORTS = ("stor0", "stor1")
NODES = ("r01-n01", "r02-n01")


def write(folder: Path) -> Path:
    """
    Write a site of two nodes, and return its folder, whose name is the site's.

    Each node has two rails on a RoCE fabric, whose class is the host's, and a bond of two ports on an Ethernet fabric
    that carries a tenant's VLAN.
    """
    names = ("site", "catalog", "facility", "fabrics", "node_pools", "addressing", "hardware")
    sections: dict[str, Any] = {}
    for name in names:
        sections |= yaml.safe_load((SIM / f"{name}.yaml").read_text(encoding="utf-8"))
    sections["site"]["name"] = folder.name
    _ports(sections["catalog"]["systems"]["sim-guest"], sections["hardware"])
    sections["node_pools"] = {"guests": sections["node_pools"]["guests"] | {"image": None, "boot": "image-installed"}}
    sections["fabrics"]["tenants"] = _fabric()
    sections["facility"]["devices"] = []
    sections["addressing"] = _addresses()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "site.yaml").write_text(yaml.safe_dump(sections), encoding="utf-8")
    return folder


def _ports(system: dict[str, Any], hardware: dict[str, Any]) -> None:
    """Give each node two more ports."""
    for at, port in enumerate(PORTS):
        system["nics"][port] = {"rate_gbps": 10, "role": "storage", "numa": 0}
        for node in NODES:
            hardware[node]["macs"][port] = f"{hardware[node]['macs']['mgmt0'][:-1]}{8 + at}"
    for name in set(hardware) - set(NODES):
        del hardware[name]


def _fabric() -> dict[str, Any]:
    """Return the fabric of the bonds: both ports of a node on one leaf, and a VLAN for RDMA on them."""
    network = {"subnet": "10.94.0.0/24", "vlan": 310, "node_addresses": True, "tagged": {"pools": ["guests"]}}
    return {
        "kind": "ethernet",
        "topology": "leaf-spine",
        "connects": ["storage"],
        "nodes_per_leaf_group": 2,
        "leaf": {"model": "frr-switch", "name": "tenant-leaf", "racks": ["r01"], "rack_units": [38]},
        "spine": {
            "model": "frr-switch",
            "name": "tenant-spine",
            "count": 2,
            "racks": ["r01", "r02"],
            "rack_units": [39],
        },
        "oversubscription": 2,
        "mtu_bytes": 9216,
        "host_mtu_bytes": 9000,
        "bond": {},
        "links": {"subnet": "10.92.0.0/24"},
        "loopbacks": {"subnet": "10.91.1.0/24"},
        "asn": {"spine_first": 65200, "leaf_first": 65201},
        "overlay": {"vteps": {"subnet": "10.91.2.0/24"}, "tenants": {"train": {"networks": {"rdma": network}}}},
    }


def _addresses() -> dict[str, Any]:
    return {
        "bmc": {"subnet": "10.90.0.0/24", "first": "10.90.0.101"},
        "management": {"subnet": "10.90.1.0/24", "first": "10.90.1.101", "gateway": None},
        "switches": {"subnet": "10.90.0.0/24", "first": "10.90.0.11"},
        "loopbacks": {"subnet": "10.91.0.0/24"},
        "fabric_links": {"subnet": "10.93.0.0/20"},
        "asn": {"spine": 65100, "leaf_first": 65101},
    }
