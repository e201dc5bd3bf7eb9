"""The files of a subnet manager against a real one: opensm on a subnet of ibsim, in a network namespace of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from coldaisle.check import CheckedSite, open_site
from coldaisle.plan.model import End
from coldaisle.render.fabric.opensm import FOLDER, opensm_files

CASES = Path(__file__).parents[1] / "cases"

# ibsim and what talks to it meet on abstract sockets, which belong to a network namespace.
RUN = """
set -u
ibsim -s net < <(sleep 30) > ibsim.log 2>&1 & simulator=$!
for _ in $(seq 50); do grep -q 'sim>' ibsim.log && break; sleep 0.1; done
export SIM_HOST='r01-n01 rail0' OSM_TMP_DIR=$PWD OSM_CACHE_DIR=$PWD
simulated() { LD_PRELOAD="$(echo /usr/lib/*/umad2sim/libumad2sim.so)" timeout 20 "$@"; }
simulated opensm -F opensm.conf -f "$PWD/opensm.log" -o > opensm.out 2>&1
simulated ibnetdiscover --node-name-map node-name-map > subnet.txt 2>&1
for lid in $(sed -n 's/.*" lid \\([0-9]*\\) .*/\\1/p' subnet.txt | sort -un); do
    echo "lid $lid" >> pkeys.txt
    simulated smpquery pkeys "$lid" 1 >> pkeys.txt 2>&1
done
kill $simulator
"""


@pytest.fixture(scope="module")
def subnet(tmp_path_factory: pytest.TempPathFactory) -> CheckedSite:
    """Return a small InfiniBand site whose GUIDs are all known, with two partitions."""
    laid = Path(shutil.copytree(CASES / "base", tmp_path_factory.mktemp("case") / "site"))
    shutil.copytree(CASES / "good" / "partitions_and_guids", laid, dirs_exist_ok=True)
    return open_site(laid)


def netlist(checked: CheckedSite) -> Iterator[str]:
    """Yield the subnet as ibsim reads it: an adapter a port, whose GUID is one less than its port's."""
    fabric = checked.plan.fabrics["compute"]
    assert fabric.subnet is not None
    guids = fabric.subnet.guids
    switches = {switch.name for switch in fabric.switches}

    def named(end: End) -> str:
        return f'"{end.device}"[{end.port}]' if end.device in switches else f'"{end.device} {end.port}"[1]'

    links = [pair for cable in fabric.cables for pair in ((cable.a, cable.b), (cable.b, cable.a))]
    for switch in fabric.switches:
        yield f'switchguid={guids[switch.name]}\nSwitch {switch.ports} "{switch.name}"'
        yield from (f"[{near.port}] {named(far)}" for near, far in links if near.device == switch.name)
        yield ""
    for near, far in links:
        if near.device not in switches:
            own = int(guids[f"{near.device}:{near.port}"], 16) - 1
            yield f'caguid=0x{own:016x}\nCa 1 "{near.device} {near.port}"\n[1] {named(far)}\n'


@pytest.fixture(scope="module")
def ran(subnet: CheckedSite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run opensm once with the files, look at the subnet, and return the folder of what was said."""
    folder = tmp_path_factory.mktemp("subnet")
    (folder / "net").write_text("\n".join(netlist(subnet)), encoding="utf-8")
    for name, text in opensm_files(subnet.plan, subnet.plan.fabrics["compute"]).files.items():
        (folder / name).write_text(text.replace(FOLDER, str(folder)), encoding="utf-8")
    subprocess.run(["unshare", "--net", "bash", "-c", RUN], cwd=folder, check=True, timeout=60, env=dict(os.environ))
    return folder


def test_opensm_takes_the_files_and_routes_as_they_say(ran: Path) -> None:
    """It complains of no line, finds the roots, and routes with the engine that the spec chose."""
    log = (ran / "opensm.log").read_text(encoding="utf-8")
    said = log + (ran / "opensm.out").read_text(encoding="utf-8")
    assert re.findall(r".*(?:PARSE ERROR|ERR [0-9A-F]{4}|Unrecognized).*", said) == []
    assert "updn tables configured on all switches" in log


def test_switches_have_their_names_from_the_map(ran: Path) -> None:
    """With the node-name-map, ibnetdiscover shows the plan's switches."""
    subnet = (ran / "subnet.txt").read_text(encoding="utf-8")
    assert sorted(re.findall(r'^Switch.*# "(\S+)"', subnet, re.MULTILINE)) == ["leaf01", "leaf02", "spine01", "spine02"]


def test_ports_are_in_the_partitions_of_their_pools(ran: Path) -> None:
    """Each port's table of P_Keys has its partitions, with the highest bit where it is a full member."""
    names = {
        lid: name
        for name, lid in re.findall(r'# "(r\S+ rail\d)" lid (\d+)', (ran / "subnet.txt").read_text(encoding="utf-8"))
    }
    tables = re.findall(r"lid (\d+)\n\s*0: (.*)\n", (ran / "pkeys.txt").read_text(encoding="utf-8"))
    found = {names[lid]: {key for key in keys.split() if key != "0x0000"} for lid, keys in tables if lid in names}
    assert len(found) == 8
    for name, keys in found.items():
        # opensm runs on the first of them, which is a full member of the default partition for that.
        default = "0xffff" if name == "r01-n01 rail0" else "0x7fff"
        assert keys == ({default, "0x9001", "0x1002"} if "-n01 " in name else {default, "0x9002"})
