"""
Memory of the provider over a play on 5,000 hosts: created, and read back as every play is.

ansible-runner and Ansible are real, and their events are; the hosts are names that answer at once, with as many facts
as a host of a site has. COLDAISLE_BENCH_PROVIDER makes it fewer hosts; the figures' names then have that number.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from components.provider.plays import Plays
from tests.bench.meter import answer_of

HOSTS = int(os.environ.get("COLDAISLE_BENCH_PROVIDER", "5000"))
FACTS = 24
"""Facts of a host: as many as the play `os` has on a host of inventory/h100-pod, or more."""

PLAYBOOKS = Path(__file__).with_name("provider")
URN = "urn:pulumi:dev::floor::coldaisle:ansible:Play::os-train"
CODE = """
import json, sys
from tests.bench.bench_provider_5000 import measured
print(json.dumps(measured(int(sys.argv[1]))))
"""


def figures() -> dict[str, float]:
    """Return MiB of the provider and of the largest process of the run, and the provider's own CPU seconds."""
    found: dict[str, float] = answer_of(CODE, str(HOSTS))
    return {f"provider_{HOSTS}_{name}": value for name, value in found.items()}


def measured(hosts: int) -> dict[str, float]:
    """Create a play on hosts in this process, and return what that took."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = _site(Path(folder), hosts)
        _id, outputs = asyncio.run(Plays(lambda _urn, _line: None).create(URN, inputs, 0))
    if len(outputs["hosts"]) != hosts:
        raise RuntimeError(f"{len(outputs['hosts'])} of {hosts} hosts were read back")
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "mib": own.ru_maxrss / 1024,
        "runner_mib": others.ru_maxrss / 1024,
        "cpu_s": own.ru_utime + own.ru_stime,
    }


def _site(root: Path, hosts: int) -> dict[str, Any]:
    """Write an inventory of hosts, let the provider find it, and return the inputs of a play on all of them."""
    facts = {f"h{number}": {f"sysctl.{at}": f"{number}-{at}" for at in range(FACTS)} for number in range(hosts)}
    common = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    nodes = {name: {"settle_facts": known, **common} for name, known in facts.items()}
    group = {"nodes": {"hosts": dict.fromkeys(nodes)}}
    (root / "inventory.json").write_text(json.dumps({"all": {"hosts": nodes, "children": group}}))
    os.environ |= {
        "XDG_STATE_HOME": str(root / "state"),
        "COLDAISLE_INVENTORY": str(root / "inventory.json"),
        "COLDAISLE_PLAYBOOKS": str(PLAYBOOKS),
    }
    planned = {name: {**known, "varsDigest": "v1"} for name, known in facts.items()}
    return {"site": "floor", "playbook": "settle", "codeDigest": "c1", "hosts": planned}
