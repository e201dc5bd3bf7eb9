"""A hall whose spec is lost: adopted live, taken over by the real engine without a run, and as planned after that."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.adopt.told import Gap, Unknown
from coldaisle.check import open_site
from coldaisle.paths import state_dir
from sim.hall.site import state_of
from tests.hall_engine import Engine, start
from tests.hall_sites import ROOT, Hall, hall_in_order
from tests.unit.adopt.adopting import fill
from tests.unit.adopt.netbox_export import NetBox, page

NODES = 3
OFF = "100.96.0.14", "100.97.0.14"
"""Addresses of a BMC and of a host that nobody has."""

PROGRAM = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, {root!r})
from coldaisle.check import open_site
from components.layers import Site
from components.datacenter import Datacenter
import pulumi

plan = open_site(Path({site!r})).plan
# The switches of a hall run no software that could be asked.
plays = tuple(replace(it, after=tuple(x for x in it.after if x != "fabric-compute")) for it in plan.plays)
plan = replace(plan, plays=tuple(it for it in plays if it.playbook != "fabric"))
adopt = pulumi.Config("coldaisle").get_bool("adopt") or False
Datacenter(plan.name, Site.of(plan, Path({site!r}), adopt=adopt))
"""


@dataclass(frozen=True)
class Adopted:
    """The hall, the adopted spec's folder, what `coldaisle adopt` printed as JSON, and the engine."""

    hall: Hall
    site: Path
    told: dict[str, Any]
    engine: Engine


@pytest.fixture(scope="module")
def adopted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Adopted]:
    """Bring a hall up from its spec, adopt it into a new folder, and make a stack of that."""
    with hall_in_order(NODES) as up:
        scratch = tmp_path_factory.mktemp("adopted")
        site = scratch / up.name
        site.mkdir()
        # Facts of the hardware are no part of a site: they come from its makers.
        own = yaml.safe_load((up.folder / "site.yaml").read_text())
        (site / "catalog.yaml").write_text(yaml.safe_dump({"catalog": own["catalog"]}))
        told = adopt(up, site, scratch)
        whole = scratch / "whole" / up.name
        fill_in(site, own, told["unknown"], whole)
        shutil.rmtree(state_dir(up.name), ignore_errors=True)
        program = PROGRAM.format(root=str(ROOT), site=str(whole))
        yield Adopted(up, whole, told, start(up, scratch / "adopted", program, rendered=True))
        shutil.rmtree(state_dir(up.name), ignore_errors=True)


def adopt(up: Hall, site: Path, scratch: Path) -> dict[str, Any]:
    """Adopt from BMCs and hosts as they are now, and from what NetBox has of the floor and the switches."""
    state = state_of(up.name)
    bmcs = {"addresses": [f"100.96.0.11-{OFF[0]}"], "credentials": f"file:{state.bmc_credentials}", "timeout_s": 15,
            "ca_file": str(state.pki / "ca.crt")}  # fmt: skip
    hosts = {"hosts": [f"100.97.0.11-{OFF[1]}"], "key_file": str(state.ssh_key), "timeout_s": 60,
             "known_hosts": str(state.folder / "known_hosts")}  # fmt: skip
    (scratch / "sources.yaml").write_text(yaml.safe_dump({"redfish": [bmcs], "ssh": [hosts]}))
    floor(up, scratch / "netbox")
    words = ("--live", str(scratch / "sources.yaml"), "--from", f"netbox={scratch / 'netbox'}", "--json")
    done = up.run("python", "-m", "coldaisle", "adopt", str(site), *words, check=False)
    assert done.returncode == 3, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def floor(up: Hall, folder: Path) -> None:
    """Write what NetBox has: racks, feeds and switches with their cables; of nodes their places, and no hardware."""
    folder.mkdir()
    checked = open_site(up.folder)
    nodes = {node.name for node in checked.plan.nodes}
    tables = {name: json.loads(text)["results"] for name, text in NetBox(checked.spec, checked.plan).files().items()}
    for row in tables["devices.json"]:
        if row["name"] in nodes:
            row.update(serial="", oob_ip=None, primary_ip4=None)
    tables["interfaces.json"] = [it for it in tables["interfaces.json"] if it["device"]["name"] not in nodes]
    tables["ip-addresses.json"] = [
        it for it in tables["ip-addresses.json"] if it["assigned_object"]["device"]["name"] not in nodes
    ]
    tables["cables.json"] = [it for it in tables["cables.json"] if not ports(it) & {"mgmt0", "rail0"}]
    for name, rows in tables.items():
        (folder / name).write_text(page(rows))


def ports(cable: dict[str, Any]) -> set[str]:
    """Return the names of both ends of a cable: BMCs speak no LLDP, so that theirs are NetBox' to tell."""
    return {cable[f"{side}_terminations"][0]["object"]["name"] for side in "ab"}


def fill_in(site: Path, own: dict[str, Any], unknown: list[dict[str, Any]], whole: Path) -> None:
    """Do what unknown.md asks of a person: each listed value is what the person knows, and no other is touched."""
    own["site"]["admin_key_file"] = str(state_of(own["site"]["name"]).ssh_key)  # as whoever ran the plays named it
    files = [path for path in site.glob("*.yaml") if path.name not in {"catalog.yaml", "allocations.yaml"}]
    data = {key: value for path in files for key, value in yaml.safe_load(path.read_text()).items()}
    for each in unknown:
        steps = re.findall(r"\[\d+\]|[^.\[]+", each["path"])
        loc = tuple(int(step[1:-1]) if step.startswith("[") else step for step in steps)
        if loc[0] in data:
            fill(data, own, Unknown(loc, Gap(what="", look="", write="")))
    whole.mkdir(parents=True)
    (whole / "site.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    for name in ("catalog.yaml", "allocations.yaml"):
        shutil.copy(site / name, whole)


def by_hand(adopted: Adopted, command: str) -> None:
    """Run a command on the first host, as somebody who logs in."""
    state = state_of(adopted.hall.name)
    options = ("-o", "BatchMode=yes", "-o", f"UserKnownHostsFile={state.folder / 'known_hosts'}")
    adopted.hall.run("ssh", *options, "-i", str(state.ssh_key), "root@100.97.0.11", command)


def files_of(up: Hall) -> dict[str, tuple[int, int]]:
    """Return size and time of every setting that a host has of its own: a play that runs writes at least its record."""
    machines = state_of(up.name).machines
    files = (path for path in machines.glob("*/upper/etc/**/*") if path.is_file() and not path.is_symlink())
    found = {str(path.relative_to(machines)): path.stat() for path in files}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in found.items()}


@pytest.mark.drill
def test_a_hall_whose_spec_is_lost_is_adopted_live_and_has_an_empty_preview(adopted: Adopted) -> None:
    """
    Who does not answer is named; a preview imports every play and changes nothing; `up` runs no play on any host.

    After that the site is as planned, by a look at every host and BMC. A host that was changed by hand is the one host
    that a preview would work on.
    """
    unknown = {each["path"]: each for each in adopted.told["unknown"]}
    assert {path for path in unknown if path.endswith(".14")} == {f"redfish.{OFF[0]}", f"ssh.{OFF[1]}"}
    assert adopted.told["differences"] == []
    before = files_of(adopted.hall)
    for key, value in (("coldaisle:site", str(adopted.site)), ("coldaisle:adopt", "true")):
        assert adopted.engine.pulumi("config", "set", key, value)[0] == 0

    by_hand(adopted, "ip link set dev rail0 mtu 1400")
    code, said = adopted.engine.pulumi("preview")
    assert code == 0, said
    assert "os on 1 of 3 hosts: r01-n01" in said
    by_hand(adopted, "ip link set dev rail0 mtu 9000")

    code, said = adopted.engine.pulumi("preview", "--json")
    assert code == 0, said
    summary = json.loads(said)["changeSummary"]
    assert (summary["import"], summary.get("update", 0), summary.get("replace", 0)) == (4, 0, 0), summary
    code, said = adopted.engine.pulumi("up", "--yes", "--skip-preview")
    assert code == 0, said
    assert files_of(adopted.hall) == before
    code, said = adopted.engine.pulumi("preview", "--refresh", "--json", "--expect-no-changes")
    assert code == 0, said
    assert set(json.loads(said)["changeSummary"]) == {"same"}
