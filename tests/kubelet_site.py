"""A site of one guest that runs the real kubelet, made from the simulated one, with addresses of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from coldaisle.paths import cache_dir

SIM = Path(__file__).parents[1] / "inventory" / "sim"
SECTIONS = ("site", "catalog", "facility", "fabrics", "node_pools", "addressing", "hardware", "provisioning", "cluster")
NODE = "r01-n01"
IMAGE = "debian-12-kubelet"
BOOT_S = 600
"""How long a boot may take: 20 seconds alone, minutes on a machine that is busy with other guests."""
NETWORK = "10.213"
"""Begin of every address of nodes; private (RFC 1918), and none of the simulated site's."""


def write(folder: Path) -> Path:
    """Write the site, and return its folder, whose name is the site's."""
    text = "".join((SIM / f"{name}.yaml").read_text(encoding="utf-8") for name in SECTIONS)
    text = text.replace("/coldaisle/sim/", f"/coldaisle/{folder.name}/").replace("198.18.", f"{NETWORK}.")
    text = text.replace("debian-12-netboot", IMAGE)
    sections: dict[str, Any] = yaml.safe_load(text)
    sections["site"]["name"] = folder.name
    (image,) = sections["provisioning"]["images"]
    image["source"] = str(cache_dir() / "images" / IMAGE)
    _one_guest(sections)
    sections["fabrics"] = {"oob": sections["fabrics"]["oob"]}
    sections["cluster"] |= {
        "pod_cidr": "10.214.0.0/16",
        "service_cidr": "10.215.0.0/20",
        "cluster_dns": "10.215.0.10",
        "pod_network": "bridge",
        "kubelet_serving": "signed",
        "sandbox_image": "coldaisle.invalid/pause:bookworm",
    }
    sections.pop("gpu")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "site.yaml").write_text(yaml.safe_dump(sections), encoding="utf-8")
    return folder


def _one_guest(sections: dict[str, Any]) -> None:
    """Leave one guest, without rails: they would need switches."""
    guest = sections["catalog"]["systems"]["sim-guest"]
    guest["nics"] = {name: port for name, port in guest["nics"].items() if "rail" not in port}
    pool = sections["node_pools"]["guests"]
    pool.pop("rdma")
    pool["nodes"] = {NODE: {"rack": "r01", "rack_unit": 10}}
    pool["image"] = IMAGE
    pool["os"]["boot_timeout_s"] = BOOT_S
    sections["node_pools"] = {"guests": pool}
    hardware = sections["hardware"][NODE]
    hardware["macs"] = {"mgmt0": hardware["macs"]["mgmt0"]}
    sections["hardware"] = {NODE: hardware}
