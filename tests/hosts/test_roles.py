"""The roles by Ansible itself: everything broken at once, seen by check mode as by reading, and repaired by one run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.hosts.breaks import GPU, OS, RDMA
from tests.hosts.settled import ROLES, Settled, needs_root

if TYPE_CHECKING:
    from tests.hosts.settled import Json

pytestmark = needs_root

ROOT = Path(__file__).parents[2]
PLAYBOOK = Path(sys.executable).parent / "ansible-playbook"
LATE = {"mac", "address", "route"}
"""Breaking these takes away what others are read by."""


def run(settled: Settled, *options: str) -> tuple[set[str], Json]:
    """Run the roles on the host, and return what they call changed, with the counts of the run."""
    inventory = {"all": {"hosts": {"r01-n01": settled.variables}}}
    settled.host.give("/tmp/inventory.json", json.dumps(inventory))  # noqa: S108  # the host's own
    environment = f"ANSIBLE_CONFIG={ROOT}/ansible.cfg ANSIBLE_STDOUT_CALLBACK=ansible.posix.json HOME=/root"
    environment += " ANSIBLE_INVENTORY_ENABLED=yaml"  # JSON is YAML; the project's own plugin takes sites
    words = f"{PLAYBOOK} -i /tmp/inventory.json {ROOT}/tests/hosts/roles.yml {' '.join(options)}"
    said = settled.host.shell(f"cd {ROOT} && {environment} {words} || true")
    report: Json = json.loads(said[said.index("{") :])
    results: list[Json] = [task["hosts"]["r01-n01"] for task in report["plays"][0]["tasks"]]
    changed = {change["fact"] for result in results for change in result.get("changes", [])}
    assert not [result["msg"] for result in results if result.get("failed")]
    return changed, report["stats"]["r01-n01"]


def drifted(settled: Settled) -> set[str]:
    """Return what reading finds that is not as planned, or cannot tell."""
    return {name for role in ROLES for name in settled.read(settled.facts[role])}


def test_check_mode_agrees_with_reading_and_one_run_repairs_all(settled: Settled) -> None:
    """What check mode would change is what is read as drifted, it changes nothing, and the next run nothing again."""
    rows: tuple[Any, ...] = (*OS, *RDMA, *GPU)
    broken = [row for row in rows if row.mend is None and row.kind not in LATE]
    for row in broken:
        settled.host.shell(row.by)
    found = drifted(settled)
    assert {row.fact for row in broken} <= found

    would, _stats = run(settled, "--check")
    assert would == found
    assert drifted(settled) == found

    changed, _stats = run(settled)
    assert changed <= found
    assert drifted(settled) == set()
    assert run(settled) == (set(), {**_stats, "changed": 0})
