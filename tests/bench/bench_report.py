"""The report of a site of 127 nodes, from the command line to the file."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from coldaisle.toolchain.environment import environment
from tests.bench.meter import cost


def figures() -> dict[str, float]:
    """Measure `coldaisle report` of the pod: the whole command, its imports too."""
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder, "report.html"))
        command = [sys.executable, "-m", "coldaisle", "report", "h100-pod", "--output", output]
        measured = cost(command, environment("sim"))
    return {"report_127_cpu_s": measured.cpu_s, "report_127_s": measured.wall_s}
