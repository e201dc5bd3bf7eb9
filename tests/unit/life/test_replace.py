"""Replacing parts: the file in place, names and addresses kept, what left remembered, and what may not come back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from coldaisle.check import open_site
from coldaisle.cli.app import build_app
from coldaisle.paths import state_dir
from coldaisle.plan import to_json
from coldaisle.render.digests import play_hosts
from coldaisle.spec.edit import EditError, with_values
from coldaisle.words import JOURNAL_FILE
from tests.unit.life.sites import ALICE, move

NODE, OTHER = "r01-n01", "r02-n02"
OLD, NEW = "52:54:00:01:01:01", "52:54:00:aa:bb:cc"


def replace(*options: str, node: str = NODE, who: str = ALICE) -> Result:
    """Call the command."""
    words = ["node", "replace", "case", node, *options, "--why", "RMA 4711", "--who", who]
    return CliRunner().invoke(build_app("node"), words)


def differing(one: Any, two: Any, path: str = "") -> set[str]:  # noqa: ANN401 - JSON
    """Return the paths at which two JSON values differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        return {p for key in one.keys() | two.keys() for p in differing(one.get(key), two.get(key), f"{path}.{key}")}
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return {p for at, pair in enumerate(zip(one, two, strict=True)) for p in differing(*pair, f"{path}[{at}]")}
    return set() if one == two else {path}


def test_a_new_adapter_changes_what_follows_from_its_address_and_no_more(site: Path) -> None:
    """One MAC address of the plan differs; on hosts, who boots it and what names its ports. Names, addresses stay."""
    move(site, NODE, "enroll", "inspect")
    before = open_site(site)
    text = (site / "hardware.yaml").read_text()
    done = replace("--mac", f"mgmt0={NEW.upper()}")
    assert done.exit_code == 0, done.output
    assert (site / "hardware.yaml").read_text() == text.replace(OLD, NEW)
    after = open_site(site)
    assert after.findings == before.findings
    assert differing(to_json(before.plan), to_json(after.plan)) == {".nodes[0].nics[0].mac"}
    move(site, NODE, "verify", "provision", "accept", "in-service")
    was, now = play_hosts(before.plan), play_hosts(open_site(site).plan)
    changed = {(play, host) for play, hosts in now.items() for host in hosts if hosts[host] != was[play][host]}
    assert {host for play, host in changed if play == "pxe"} == {"prov01"}
    assert {host for play, host in changed if play != "pxe"} == {NODE}


def test_only_the_new_value_is_another_in_the_file(site: Path) -> None:
    """Comments, order and quotes stay; the old part is remembered with who, when and why."""
    move(site, NODE, "repair")
    assert replace("--gpu", "GPU_SXM_1=G-1", "--serial", "CH-1").exit_code == 0
    text = (site / "hardware.yaml").read_text()
    assert text.startswith("# What the vendor's delivery list says of each node.\n")
    assert replace("--gpu", "GPU_SXM_1=G-2").exit_code == 0
    assert (site / "hardware.yaml").read_text() == text.replace("G-1", "G-2")
    spec = open_site(site).spec
    assert spec.hardware[NODE].gpus == {"GPU_SXM_1": "G-2"}
    assert (spec.journal.gone["g-1"].who, spec.journal.gone["g-1"].why) == (ALICE, "RMA 4711")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--mac", f"rail0={OLD}"), "is r01-n01 mgmt0's; replace that part first"),
        (("--mac", "rail0=52:54:00:02:02:02"), "is r02-n02 rail0's"),
        (("--mac", f"mgmt0={OLD}"), f"has {OLD} already"),
        (("--mac", "mgmt0=nonsense"), "not a MAC address"),
        (("--mac", "rail9=52:54:00:aa:00:01"), "has no port rail9"),
        (("--mac", "mgmt0"), "write the place, =, and the new label"),
        ((), "what was replaced?"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_changed(site: Path, options: tuple[str, ...], why: str) -> None:
    """Another's part, the same part, no MAC address, no such port: neither file is touched."""
    move(site, NODE, "repair")
    before = [(site / name).read_bytes() for name in ("hardware.yaml", JOURNAL_FILE)]
    done = replace(*options)
    assert done.exit_code == 2
    assert why in done.stderr
    assert [(site / name).read_bytes() for name in ("hardware.yaml", JOURNAL_FILE)] == before


def test_what_has_left_does_not_come_back_unasked(site: Path) -> None:
    """Neither by the command, in another node, nor by hand in the file; --take-back lets a mended part in."""
    move(site, NODE, "repair")
    assert replace("--mac", f"mgmt0={NEW}").exit_code == 0
    move(site, OTHER, "repair")
    refused = replace("--mac", f"mgmt0={OLD}", node=OTHER)
    assert refused.exit_code == 2
    assert f"{OLD} has left r01-n01 at 2" in refused.stderr
    file = site / "hardware.yaml"
    text = file.read_text()
    file.write_text(text.replace(NEW, OLD))
    assert [each.check for each in open_site(site).errors] == ["hardware-returned"]
    file.write_text(text)
    assert replace("--mac", f"mgmt0={OLD}", "--take-back", node=OTHER).exit_code == 0
    assert open_site(site).errors == ()


def test_a_part_is_replaced_in_somebodys_hands_only(site: Path) -> None:
    """A node in service is refused with the command that takes it out; another's repair with whose it is."""
    done = replace("--gpu", "GPU_SXM_1=G-1")
    assert done.exit_code == 2
    assert "coldaisle node repair case r01-n01" in done.stderr
    move(site, NODE, "repair")
    done = replace("--gpu", "GPU_SXM_1=G-1", who="bob@deploy")
    assert done.exit_code == 6
    assert ALICE in done.stderr
    assert "GPU_SXM_1" not in (site / "hardware.yaml").read_text()


def test_json(site: Path) -> None:
    """Programs get what was and what is."""
    move(site, NODE, "repair")
    done = replace("--bmc-mac", "52:54:00:AA:00:00", "--json")
    assert json.loads(done.stdout)["replaced"] == [
        {"part": "bmc_mac", "place": "", "old": "52:54:00:01:01:00", "new": "52:54:00:aa:00:00"}
    ]


BLOCK = """# ä€ list
hardware:
  # the first
  n1:
    serial: 'A'  # by hand
    macs:
      mgmt0: "52:54:00:00:00:01"
  n2: {}
"""


def test_values_are_changed_where_they_stand() -> None:
    """In block and in flow style, with and without the key, behind letters that are no ASCII."""
    changes = {
        ("hardware", "n1", "serial"): "B",
        ("hardware", "n1", "gpus", "S 1"): "1",
        ("hardware", "n2", "serial"): "no",
    }
    assert with_values(BLOCK, changes) == BLOCK.replace("'A'", "'B'").replace(
        "    serial:", '    gpus: {"S 1": "1"}\n    serial:'
    ).replace("{}", '{serial: "no"}')


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("hardware:\n  n1: &one {serial: A}\n  n2: *one\n", "an anchor that is shared"),
        ("hardware: [n1]\n", "hardware is no map"),
        ("hardware: {n1: {serial: [A]}}\n", "no single value"),
        ("hardware: {n1\n", "not YAML"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_to_a_person(text: str, why: str) -> None:
    """What would change something else, or is not what it should be, is refused."""
    path = ("hardware", "n2" if "*" in text else "n1", "serial")
    with pytest.raises(EditError, match=why):
        with_values(text, {path: "B"})


def test_what_plays_know_a_machine_by_begins_at_the_inspection(site: Path) -> None:
    """A GPU leaves a node in repair; an adapter has to be set up anew, so that the node goes the way of a new one."""
    move(site, NODE, "repair")
    assert replace("--gpu", "GPU_SXM_1=G-1").exit_code == 0
    assert open_site(site).spec.journal.states[NODE] == "repair"
    assert replace("--mac", f"mgmt0={NEW}").exit_code == 0
    assert open_site(site).spec.journal.states[NODE] == "inspect"


def test_a_new_machine_has_a_new_uuid_and_its_old_host_key_is_forgotten(
    site: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Plays would refuse it by its firmware's UUID, and SSH by the key of the old disk; others' keys stay."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    address = next(n.management_address for n in open_site(site).plan.nodes if n.name == NODE).partition("/")[0]
    known = state_dir("case") / "known_hosts"
    known.parent.mkdir(parents=True, exist_ok=True)
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7m2Y8pJdK0b1m4m0l1t6Fv2m3s5oE8Xo0kq3m7b9aZ"
    known.write_text(f"{address} {key}\n192.0.2.9 {key}\n")
    move(site, NODE, "repair")
    uuids = ("2f0cb5a6-1111-4000-8000-0000000000aa", "2f0cb5a6-2222-4000-8000-0000000000bb")
    assert replace("--uuid", uuids[0]).exit_code == 0
    assert replace("--uuid", uuids[1], "--serial", "CH-2").exit_code == 0
    found = open_site(site)
    assert (found.spec.hardware[NODE].uuid, set(found.spec.journal.gone)) == (uuids[1], {uuids[0]})
    assert found.plan.nodes[0].bmc is not None
    assert found.plan.nodes[0].bmc.settings["machine_uuid"] == uuids[1]
    assert known.read_text() == f"192.0.2.9 {key}\n"
    assert replace("--uuid", uuids[0]).exit_code == 2, "it has left a node"


def test_every_play_runs_anew_on_a_new_machine(site: Path) -> None:
    """Nothing of what was set is on it, whatever the stack remembers of the node; no other node's play runs."""
    was = play_hosts(open_site(site).plan)
    move(site, NODE, "repair")
    assert replace("--serial", "CH-2").exit_code == 0
    move(site, NODE, "verify", "provision")
    now = play_hosts(open_site(site).plan)
    mine = {play for play, hosts in was.items() if NODE in hosts}
    assert {play for play in mine if now[play][NODE] == was[play][NODE]} == set()
    assert {host for play in now for host in now[play] if now[play][host] != was[play][host]} == {NODE}
