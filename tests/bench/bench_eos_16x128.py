"""
EOS configurations of 16 spines and 128 leaves with EVPN-VXLAN, ours beside pyavd's, measured in one run.

Both begin with what people write and end with the text of 144 switches: eBGP over /31s, loopbacks and tunnel addresses,
overlay sessions from every leaf to every spine, four tenants with five networks each on every leaf, gateways, and eight
ports to servers on each leaf that carry all of them. Ours reads, plans and checks a whole site for it, with racks and
power. The texts are held against each other before a figure is told. pyavd has an environment of its own, made when
the figure is asked for, from tests/bench/pyavd.lock.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from coldaisle.toolchain.environment import environment
from coldaisle.toolchain.places import cache_dir
from tests.bench import meter
from tests.bench.meter import NotMeasuredError

SPINES, LEAVES, SERVERS, TENANTS, NETWORKS = 16, 128, 8, 4, 5
"""Servers are those of a leaf, networks those of a tenant."""

IN_PROCESS = """
import json, sys, time
from pathlib import Path
from coldaisle.check import open_site
from coldaisle.render.switches import switch_configs
started = time.process_time()
site = open_site(Path(sys.argv[1]))
configs = list(switch_configs(site.plan))
used = time.process_time() - started
for config in configs:
    (Path(sys.argv[2]) / f"{config.switch}.cfg").write_text(config.text, encoding="utf-8")
print(json.dumps([used, [finding.what for finding in site.errors]]))
"""
"""Reads, plans and checks a site and writes its configurations; imports and the files are not in the figure."""

COUNTED = {
    "sessions": r"^   neighbor [0-9.]+ remote-as ",
    "link and loopback addresses": r"^   ip address [0-9.]+/3[12]$",
    "networks' VNIs": r"^   vxlan vlan \d+ vni ",
    "tenants' VNIs": r"^   vxlan vrf \S+ vni ",
    "gateways": r"^   ip address virtual ",
    "networks in BGP": r"^   vlan \d+$",
    "tenants in BGP": r"^   vrf t\d$",
    "route targets": r"^      route-target ",
    "server ports": r"^   switchport trunk native vlan ",
}
"""What both texts must have the same number of."""


def figures() -> dict[str, float]:
    """Return CPU seconds and lines of both, and the ratio of ours to pyavd's, which shall be 0.1 at most."""
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        own, own_texts = _ours(Path(ours))
        peer, peer_texts = _theirs(Path(theirs))
    _tell(own_texts, peer_texts)
    return {
        "eos_16x128_cpu_s": own,
        "eos_16x128_lines": float(sum(map(_lines, own_texts.values()))),
        "eos_16x128_pyavd_cpu_s": peer,
        "eos_16x128_pyavd_lines": float(sum(map(_lines, peer_texts.values()))),
        "eos_16x128_cpu_ratio": own / peer,
    }


def _ours(folder: Path) -> tuple[float, dict[str, str]]:
    site, out = folder / "site", folder / "out"
    site.mkdir()
    out.mkdir()
    (site / "site.yaml").write_text(yaml.safe_dump(sections()), encoding="utf-8")
    used, errors = meter.answer_of(IN_PROCESS, str(site), str(out))
    if errors:
        raise NotMeasuredError(f"the site that is measured has errors: {errors[0]}")
    return used, _texts(out)


def _theirs(folder: Path) -> tuple[float, dict[str, str]]:
    program = Path(__file__).parent / "peers" / "eos_pyavd.py"
    numbers = (SPINES, LEAVES, SERVERS, TENANTS, NETWORKS)
    command = [str(peer_python()), str(program), *map(str, numbers), str(folder)]
    done = subprocess.run(command, env=environment("sim"), capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotMeasuredError(f"pyavd: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout), _texts(folder)


def peer_python() -> Path:
    """
    Return a Python that has pyavd, in an environment of its own in the cache, made from its lock where it is not there.

    Raises:
        NotMeasuredError: its packages could not be installed.
    """
    lock = Path(__file__).parent / "pyavd.lock"
    key = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:16]
    folder = cache_dir() / "bench" / f"pyavd-{key}"
    python, made = folder / "bin" / "python", folder / "made"
    if not made.is_file():
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [*pip, "--require-hashes", "--no-deps", "-r", str(lock)],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise NotMeasuredError(f"pyavd could not be installed: {done.stderr.strip()[-300:]}")
        made.touch()
    return python


def _texts(folder: Path) -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.cfg"))}


def _lines(text: str) -> int:
    return len(text.splitlines())


def _tell(ours: dict[str, str], theirs: dict[str, str]) -> None:
    """Say what is compared; texts of different content are not measured."""
    both = [counts(texts) for texts in (ours, theirs)]
    if both[0] != both[1] or len(ours) != len(theirs):
        raise NotMeasuredError(f"the configurations differ: {len(ours)} {both[0]} and {len(theirs)} {both[1]}")
    told = ", ".join(f"{count} {name}" for name, count in both[0].items())
    sys.stderr.write(f"eos_16x128: both write {len(ours)} switches with {told}\n")


def counts(texts: dict[str, str]) -> dict[str, int]:
    """Return how often configurations have each thing that is compared."""
    whole = "\n".join(texts.values())
    return {name: len(re.findall(pattern, whole, re.MULTILINE)) for name, pattern in COUNTED.items()}


# -- the site ---------------------------------------------------------------------------------------------------
def sections() -> dict[str, Any]:
    """Return a site of 128 racks with a leaf and eight servers each, whose spines stand in racks of their own."""
    racks = f"r[001-{LEAVES:03}]"
    nodes = {f"{racks}-n[1-{SERVERS}]": {"rack": racks, "rack_unit": list(range(1, 2 * SERVERS, 2))}}
    return {
        "site": {"name": "eos", "domain": "eos.example.net", "admin_key_file": "k", "bmc_credentials": "env:BMC"},
        "catalog": {"systems": {"server": _server()}},
        "facility": _facility(racks),
        "addressing": {"management": {"subnet": "10.0.0.0/16"}, "switches": {"subnet": "10.1.0.0/22"}},
        "node_pools": {"p": {"system": "server", "role": "serving", "nodes": nodes}},
        "fabrics": {"f": _fabric(racks)},
    }


def _server() -> dict[str, Any]:
    return {
        "vendor": "any",
        "description": "a server of one port",
        "architecture": "x86_64",
        "firmware": "uefi",
        "height_u": 1,
        "max_power_w": 500,
        "weight_kg": 20,
        "air_share": 1.0,
        "psus": {"count": 2, "needed": 1},
        "boot_nic": "mgmt0",
        "nics": {"mgmt0": {"rate_gbps": 800, "role": "management"}},
        "source": "made up for the measurement",
    }


def _facility(racks: str) -> dict[str, Any]:
    feed = {"voltage_v": 415, "voltage_reference": "line-to-line", "phases": 3, "breaker_a": 63}
    like = {"height_u": 48, "cooling": "air", "max_weight_kg": 2000, "power_feeds": [{**feed, "name": n} for n in "ab"]}
    row = {"name": "row1", "racks": [{**like, "name": racks}, {**like, "name": "s[01-04]"}]}
    air = {
        "name": "air",
        "kind": "air",
        "units": 20,
        "capacity_w_each": 200000,
        "redundant": 1,
        "temperature_rise_k": 12,
    }
    return {"halls": [{"name": "hall1", "rows": [row]}], "power": {"derating": 0.8}, "cooling": [air]}


def _fabric(racks: str) -> dict[str, Any]:
    switch = {"model": "arista-7060x6-64pe", "max_power_w": 1500}
    return {
        "kind": "ethernet",
        "topology": "leaf-spine",
        "connects": ["management"],
        "nodes_per_leaf_group": SERVERS,
        "leaf": {**switch, "racks": [racks], "rack_units": [40]},
        "spine": {
            **switch,
            "count": SPINES,
            "breakout": 2,
            "breakout_ports": 64,
            "racks": ["s[01-04]"],
            "rack_units": [10, 20, 30, 40],
        },
        "uplinks_per_spine": 1,
        "mtu_bytes": 9200,
        "host_mtu_bytes": 1500,
        "network_os": "eos",
        "links": {"subnet": "10.128.0.0/16"},
        "loopbacks": {"subnet": "10.127.0.0/24"},
        "asn": {"spine_first": 4200000000, "leaf_first": 4200000001},
        "overlay": {"vteps": {"subnet": "10.126.0.0/24"}, "tenants": {f"t{n}": _tenant(n) for n in range(TENANTS)}},
    }


def _tenant(number: int) -> dict[str, Any]:
    networks = {
        f"net{network}": {
            "subnet": f"10.{192 + number}.{network * 4}.0/22",
            "untagged" if number == network == 0 else "tagged": {"pools": ["p"]},
        }
        for network in range(NETWORKS)
    }
    return {"networks": networks}
