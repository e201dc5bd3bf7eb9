"""What it costs to propose places for nodes, and to tell how much more a hall can take."""

from __future__ import annotations

import tempfile
from pathlib import Path

import yaml

from tests.bench import large_site, meter
from tests.bench.meter import NotMeasuredError

IN_PROCESS = """
import json, sys, time
from pathlib import Path
from coldaisle.check import open_site
from coldaisle.proposal import propose, room, wanted
started = time.process_time()
site = open_site(Path(sys.argv[1]))
found = propose(site, wanted(site.spec))
proposed = time.process_time()
room(site, ["dgx-h100", "dgx-b200"])
print(json.dumps([proposed - started, time.process_time() - proposed, found.complete]))
"""
"""Opens a site, places what it lacks, and asks for the room of two systems; imports are not in the figures."""


def figures() -> dict[str, float]:
    """Return CPU seconds to open 2,048 nodes and place 64 more of them, and for the room of two systems."""
    with tempfile.TemporaryDirectory() as folder:
        large_site.write(Path(folder))
        _lacking(Path(folder) / "site.yaml")
        answer = meter.answer_of(IN_PROCESS, folder)
    placed, room, complete = answer
    if not complete:
        raise NotMeasuredError("the nodes do not fit the site that is measured")
    return {"place_2048_cpu_s": placed, "room_2048_cpu_s": room}


def _lacking(file: Path) -> None:
    """Take the last two pools of 32 nodes out of their racks."""
    sections = yaml.safe_load(file.read_text(encoding="utf-8"))
    for name in ("su63", "su64"):
        del sections["node_pools"][name]["nodes"]
        sections["node_pools"][name]["count"] = 32
    file.write_text(yaml.safe_dump(sections), encoding="utf-8")
