"""Sites with an overlay, for tests: nodes of one management port or two on leaves of a routed Ethernet fabric."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from coldaisle.spec.sections import SiteSpec
from tests.unit.floor_sites import catalog, pool, site

MODELS = {"cumulus": "sn4600c", "sonic": "sn4600c", "eos": "arista-7060x6-64pe", "frr": "sn4600c"}
"""A switch model for each operating system; FRR runs on any, and no check is asked here."""

TENANTS: dict[str, Any] = {
    "infra": {
        "networks": {
            "hosts": {"addressing": "management", "untagged": {"pools": ["a", "b"]}},
            "machines": {
                "subnet": "10.72.0.0/22",
                "tagged": {"pools": ["a"]},
                "dhcp_servers": ["10.0.0.2"],
                "mtu_bytes": 9000,
            },
        }
    },
    "red": {
        "vni": 50500,
        "networks": {"data": {"subnet": "10.73.0.0/22", "vlan": 300, "tagged": {"pools": ["b"]}}},
        "exits": [{"via": "10.73.0.254"}, {"to": "192.0.2.0/24", "via": "10.73.0.253"}],
    },
    "blue": {
        "networks": {
            "data": {"subnet": "10.73.0.0/22", "tagged": {"pools": ["a"]}},
            "bare": {"tagged": {"pools": ["a"]}},
        }
    },
}


def two_ports() -> Any:  # noqa: ANN401 - a catalog
    """Return the catalog with a system that has a management port on each of two rails, and boots over the first."""
    like = catalog().systems["dgx-h100"]
    nic = next(nic for nic in like.nics.values() if nic.role == "management")
    nics = {f"mgmt{rail}": nic.model_copy(update={"rail": rail}) for rail in (0, 1)}
    pair = like.model_copy(update={"nics": nics, "boot_nic": "mgmt0"})
    return catalog().model_copy(update={"systems": {**catalog().systems, "pair": pair}})


def overlay_site(system: str = "eos", tenants: dict[str, Any] | None = None, **fabric: Any) -> SiteSpec:  # noqa: ANN401
    """Return a site of two pools with three nodes each, on three leaves and two spines that run an operating system."""
    allocations = fabric.pop("allocations", {})
    overlay = {"vteps": {"subnet": "10.126.0.0/24"}, "tenants": TENANTS if tenants is None else tenants}
    inband = {
        "kind": "ethernet",
        "topology": "leaf-spine",
        "connects": ["management"],
        "nodes_per_leaf_group": 2,
        "leaf": {"model": MODELS[system]},
        "spine": {"model": MODELS[system], "count": 2},
        "mtu_bytes": 9200,
        "host_mtu_bytes": 1500,
        "network_os": system,
        "overlay": overlay,
        **fabric,
    }
    addressing = {
        "management": {"subnet": "10.0.0.0/16", "first": "10.0.1.1", "gateway": "10.0.0.1"},
        "fabric_links": {"subnet": "10.128.0.0/20"},
        "loopbacks": {"subnet": "10.127.0.0/24"},
        "asn": {"spine": 4200000000, "leaf_first": 4200000001},
    }
    pools = {"a": pool("a[01-03]"), "b": pool("b[01-03]")}
    return site(addressing=addressing, fabrics={"f": inband}, node_pools=pools, allocations=allocations)


PAIRS: dict[str, Any] = {"rail_optimized": True, "rails": 2}
"""What puts the two ports of a node of `bonded` on two leaves."""


def bonded(system: str = "eos", **fabric: Any) -> SiteSpec:  # noqa: ANN401
    """Return the site with nodes of two ports, which are one bond."""
    spec = overlay_site(system, bond=fabric.pop("bond", {}), **fabric)
    pools = {name: one.model_copy(update={"system": "pair"}) for name, one in spec.node_pools.items()}
    return replace(spec, catalog=two_ports(), sections=spec.sections.model_copy(update={"node_pools": pools}))
