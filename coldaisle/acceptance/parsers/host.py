"""
Memory and processors: `ras-mc-ctl --error-count`, `stressapptest`, and HPL's `xhpl`.

Sources of the forms: rasdaemon's manual page ras-mc-ctl(8) (columns Label, CE, UE); stressapptest's documentation
(`Status: PASS - please verify no corrected errors`, reports of miscompares with the DIMM's name); the HPL FAQ and its
results page (a row that begins with WR or WC, a line of residuals that ends in PASSED or FAILED, `End of Tests.`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from coldaisle.acceptance.parsers.shared import figure
from coldaisle.acceptance.records import CannotTellError, Fault, Measured, Reading, Where

_COUNTED = re.compile(r"^(\S+)\s+(\d+)\s+(\d+)\s*$", re.MULTILINE)
_COUNT_HEAD = re.compile(r"^Label\s+CE\s+UE\s*$", re.MULTILINE)
_STATUS = re.compile(r"^Status: (PASS|FAIL)\b(.*)$", re.MULTILINE)
_MISCOMPARE = re.compile(r"miscompare.*?DIMM ([^\s:]+)")
_RUN = re.compile(r"^W[RC]\S+\s+\d+\s+\d+\s+\d+\s+\d+\s+([\d.]+)\s+([\d.eE+]+)\s*$", re.MULTILINE)
_RESIDUAL = re.compile(r"^\|\|Ax-b\|\|.*\.\s*(PASSED|FAILED)\s*$", re.MULTILINE)


def memory_errors(text: str, _expects: Mapping[str, Any]) -> Reading:
    """Read the errors of each DIMM since the host started: one that could not be corrected is a fault."""
    if not _COUNT_HEAD.search(text):
        raise CannotTellError("ras-mc-ctl printed no counts: no driver of the memory controller is loaded")
    rows = _COUNTED.findall(text)
    if not rows:
        raise CannotTellError("ras-mc-ctl counted on no DIMM")
    measured = tuple(
        Measured("corrected_memory_errors", float(corrected), Where("dimm", label)) for label, corrected, _ in rows
    )
    bad = ((label, errors) for label, _, errors in rows if int(errors))
    return Reading(
        measured, tuple(Fault(f"{errors} uncorrected memory errors", Where("dimm", label)) for label, errors in bad)
    )


def stressapptest(text: str, _expects: Mapping[str, Any]) -> Reading:
    """Read the verdict on the memory, and the DIMMs whose content changed."""
    status = _STATUS.search(text)
    if status is None:
        raise CannotTellError("stressapptest ended without its status")
    labels = sorted(set(_MISCOMPARE.findall(text)) - {"Unknown"})
    if status[1] == "PASS" and not _MISCOMPARE.search(text):
        return Reading()
    parts: list[Where | None] = [Where("dimm", label) for label in labels]
    return Reading(faults=tuple(Fault("memory did not hold what was written", part) for part in parts or [None]))


def hpl(text: str, _expects: Mapping[str, Any]) -> Reading:
    """Read the rate of the fastest run in GFLOP/s, and whether every residual passed."""
    runs, residuals = _RUN.findall(text), _RESIDUAL.findall(text)
    if not runs or "End of Tests." not in text or len(residuals) < len(runs):
        raise CannotTellError("HPL ended early")
    best = max(figure(rate, "the rate of HPL") for _, rate in runs)
    failed = residuals.count("FAILED")
    faults = (Fault(f"{failed} of {len(residuals)} residuals of HPL failed: wrong results"),) if failed else ()
    return Reading((Measured("hpl_gflops", best),), faults)
