"""What the twin of a routed fabric of 4 spines and 16 leaves costs: up, every check and every single failure."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests import twin_sites
from tests.bench import meter
from tests.bench.meter import NotMeasuredError

IN_PROCESS = """
import json, resource, sys
from pathlib import Path
from coldaisle.check import open_site
from sim.twin.run import Request, run_twins
site = open_site(Path(sys.argv[1]))
(found,) = run_twins(site.spec, site.plan, Request(), lambda line: None)
own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([found.times_s["all"], found.memory_mib + own, found.count("passed") == len(found.checks)]))
"""
"""Runs the twin of a site's one fabric; memory is that of its processes, and of the program that watches them."""


def figures() -> dict[str, float]:
    """Return wall seconds until all is checked and nothing is left, and MiB."""
    with tempfile.TemporaryDirectory() as folder:
        site = twin_sites.write(Path(folder) / "twin4x16", 4, 16)
        seconds, memory, passed = meter.answer_of(IN_PROCESS, str(site))
    if not passed:
        raise NotMeasuredError("a check of the twin did not pass")
    return {"twin_4x16_s": seconds, "twin_4x16_mib": memory}
