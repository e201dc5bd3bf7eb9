"""The short inventory and the digests: what a stack's output and a play's inputs are made of."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.plan.model import SitePlan
from coldaisle.render.ansible import inventory
from coldaisle.render.digests import record_digest, vars_digests
from coldaisle.render.hosts import SHOWN, inventory_text, shown
from components.provider.work import NO_SECRETS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def plan() -> SitePlan:
    """Return the plan of the simulated site."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return open_site(Path("inventory") / "sim").plan


def test_ansible_reads_the_short_inventory(plan: SitePlan, tmp_path: Path) -> None:
    """Ansible finds the same groups, hosts and connections in it as in the whole inventory."""
    file = tmp_path / "hosts.ini"
    file.write_text(inventory_text(plan), encoding="utf-8")
    command = [str(Path(sys.executable).parent / "ansible-inventory"), "-i", str(file), "--list"]
    read = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    whole = inventory(plan)["all"]
    for host, variables in whole["hosts"].items():
        exported = {key: shown(value) for key, value in variables.items() if key in SHOWN}
        assert read["_meta"]["hostvars"][host] == exported, host
    for group, members in whole["children"].items():
        assert read.get(group, {}).get("hosts", []) == list(members["hosts"]), group


def test_a_digest_follows_the_variables_of_its_own_playbook(plan: SitePlan) -> None:
    """Another MTU of one node changes that node's `os` digest, and nothing of any other play or host."""
    node = next(node for node in plan.nodes if node.name == "r01-n01")
    nics = tuple(replace(nic, mtu_bytes=1400) if nic.name == "rail0" else nic for nic in node.nics)
    changed = replace(plan, nodes=tuple(replace(n, nics=nics) if n is node else n for n in plan.nodes))
    before, after = vars_digests(plan), vars_digests(changed)
    different = {(play, host) for play, hosts in before.items() for host in hosts if after[play][host] != hosts[host]}
    assert ("os-guests", "r01-n01") in different
    assert {host for _, host in different} == {"r01-n01"}
    assert not {play for play, _ in different} & {"bmc-guests", "gpu-guests"}


def test_what_logs_in_cheaply_sends_no_secret(plan: SitePlan) -> None:
    """A secret is named, so that it shows in the variables which a playbook's role takes, as the join's token does."""
    secrets = re.compile(r"\b(file|env):")
    takers = set()
    for variables in inventory(plan)["all"]["hosts"].values():
        takers |= {name.split("_")[0] for name, value in variables.items() if secrets.search(json.dumps(value))}
    assert "kubernetes" in takers
    assert not takers & NO_SECRETS


def test_a_fabrics_digest_changes_with_any_of_its_cables(plan: SitePlan) -> None:
    """One cable less is another fabric; the same fabric has the same digest."""
    fabric = plan.fabrics["compute"]
    assert record_digest(fabric) == record_digest(replace(fabric))
    assert record_digest(fabric) != record_digest(replace(fabric, cables=fabric.cables[1:]))
