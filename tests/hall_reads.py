"""
What the provider's two readers tell of a hall's hosts: `python -m tests.hall_reads FOLDER [READER...]` prints it.

The readers are `reader` and `ansible`, both where none is named.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from coldaisle.drift.answers import NOT_FACTS
from components.provider.reading import job_of, reading_of
from components.provider.run import READER, WORKER, run_playbook
from components.provider.site import open_site

Told = dict[str, tuple[dict[str, Any], dict[str, str]]]


def told(folder: Path, worker: Path) -> Told:
    """Return facts and errors of every host that a play has, by one of the two workers."""
    wanted: dict[str, frozenset[str]] = {}
    plays = json.loads((folder / "inputs.json").read_text())
    for play in plays.values():
        for host, facts in play["hosts"].items():
            wanted[host] = wanted.get(host, frozenset()) | set(facts) - NOT_FACTS
    site = open_site(next(iter(plays.values()))["site"])
    result = asyncio.run(run_playbook(job_of(site, wanted, worker), asyncio.Event(), lambda _event: None))
    readings = {host: reading_of(result, host, names) for host, names in wanted.items()}
    return {host: (reading.facts, reading.errors) for host, reading in readings.items()}


READERS = {"reader": READER, "ansible": WORKER}

if __name__ == "__main__":
    answer = {name: told(Path(sys.argv[1]), READERS[name]) for name in sys.argv[2:] or READERS}
    sys.stdout.write(json.dumps(answer) + "\n")
