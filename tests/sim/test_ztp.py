"""First boot of switches with real programs: scripts in bash, and dnsmasq answering a DHCP client."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.plan import plan_site
from coldaisle.plan.model import SitePlan
from coldaisle.render.fabric.ztp import first_boot
from coldaisle.spec.catalog import NetworkOs
from tests.sim.conftest import ROOT

SYSTEMS: tuple[NetworkOs, ...] = ("cumulus", "sonic", "eos")
MAC = "02:00:00:00:00:01"


@cache
def plan_of(system: NetworkOs) -> SitePlan:
    """Return the Ethernet site with one leaf that a system runs, whose MAC is known."""
    spec = open_site(ROOT / "inventory" / "b200-roce").spec
    model = spec.catalog.switches["sn5600"].model_copy(update={"network_os": [system]})
    catalog = spec.catalog.model_copy(update={"switches": {**spec.catalog.switches, "sn5600": model}})
    plan = plan_site(replace(spec, catalog=catalog))
    compute = plan.fabrics["compute"]
    leaf = replace(compute.switches[0], mac=MAC, management_address="192.0.2.17", management_prefix_length=24)
    only = replace(compute, switches=(leaf,), cables=())
    return replace(plan, fabrics={"compute": only})


def served(system: NetworkOs, folder: Path) -> Path:
    """Write the files as a web server would have them, and return the leaf's script; they are fetched by file://."""
    for name, text in first_boot(plan_of(system), f"file://{folder}/http").files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "http" / "leaf01.sh"


def run(script: Path, folder: Path) -> tuple[int, str, str]:
    """Run a script with switches' commands that only say how they were called, and return code, calls and errors."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for name in ("nv", "config"):
        program = programs / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >> {folder}/calls\n', encoding="utf-8")
        program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "FLASH": str(folder)}
    done = subprocess.run(
        ["bash", str(script)], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    calls = folder / "calls"
    return done.returncode, calls.read_text(encoding="utf-8") if calls.exists() else "", done.stderr


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_script_applies_the_configuration_that_was_rendered(system: NetworkOs, tmp_path: Path) -> None:
    """The script fetches, checks and applies with its system's own commands, and ends with 0."""
    code, calls, _ = run(served(system, tmp_path), tmp_path)
    assert code == 0
    verbs = [line.split("/")[0].strip() for line in calls.splitlines()]
    assert (
        verbs
        == {
            "cumulus": ["nv config replace", "nv config apply --assume-yes", "nv config save"],
            "sonic": ["config load --yes", "config save --yes"],
            "eos": [],
        }[system]
    )
    flash = tmp_path / "startup-config"
    assert flash.exists() == (system == "eos")
    if system == "eos":
        assert flash.read_text(encoding="utf-8") == (tmp_path / "http" / "leaf01.eos.cfg").read_text(encoding="utf-8")


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_script_changes_nothing_when_the_configuration_is_another(system: NetworkOs, tmp_path: Path) -> None:
    """One letter more, and the script says so, ends with 1, and calls nothing."""
    script = served(system, tmp_path)
    (config,) = (path for path in (tmp_path / "http").iterdir() if path != script)
    config.write_text(config.read_text(encoding="utf-8") + " ", encoding="utf-8")
    code, calls, said = run(script, tmp_path)
    assert (code, calls, (tmp_path / "startup-config").exists()) == (1, "", False)
    assert "its SHA-256 differs; nothing was changed" in said


def test_a_script_changes_nothing_when_nothing_is_served(tmp_path: Path) -> None:
    """Without the configuration the script ends with 1 and says what it could not fetch."""
    script = served("cumulus", tmp_path)
    (tmp_path / "http" / "leaf01.nvue.yaml").unlink()
    code, calls, said = run(script, tmp_path)
    assert (code, calls) == (1, "")
    assert "leaf01.nvue.yaml cannot be fetched; nothing was changed" in said


# The client asks for what its system asks for; busybox gives unknown options in hexadecimal.
ASK = """
set -eu
ip link set lo up
ip link add server type veth peer name client address {mac}
ip addr add 192.0.2.1/24 dev server
ip link set server up
ip link set client up
dnsmasq --keep-in-foreground --conf-file={folder}/dnsmasq.conf --pid-file= & server=$!
trap 'kill $server' EXIT
busybox udhcpc -f -q -n -t 8 -T 1 -i client -s {folder}/said.sh -O 67 -O 239
"""


@pytest.mark.parametrize("system", SYSTEMS)
def test_dnsmasq_tells_a_switch_its_address_and_its_script(system: NetworkOs, tmp_path: Path) -> None:
    """A client with the switch's MAC gets its address, its name, and the script's URL in its system's option."""
    served(system, tmp_path)
    config = f"port=0\ninterface=server\nbind-interfaces\ndhcp-leasefile={tmp_path}/leases\ndhcp-authoritative\n"
    (tmp_path / "dnsmasq.conf").write_text(f"{config}conf-file={tmp_path}/dhcp/dnsmasq.conf\n", encoding="utf-8")
    said = tmp_path / "said.sh"
    said.write_text(f'#!/bin/sh\n[ "$1" != bound ] || env > {tmp_path}/lease\n', encoding="utf-8")
    said.chmod(0o755)
    script = ASK.format(mac=MAC, folder=tmp_path)
    subprocess.run(["unshare", "--net", "sh", "-c", script], check=True, timeout=60, capture_output=True)
    lease = dict(
        line.split("=", 1) for line in (tmp_path / "lease").read_text(encoding="utf-8").splitlines() if "=" in line
    )
    url = f"file://{tmp_path}/http/leaf01.sh"
    assert (lease["ip"], lease["hostname"]) == ("192.0.2.17", "leaf01")
    assert (bytes.fromhex(lease.get("opt239", "")).decode(), lease.get("bootfile")) == (
        ("", url) if system == "eos" else (url, None)
    )
