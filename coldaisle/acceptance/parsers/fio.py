"""
`fio --output-format=json`.

Source of the form: fio's documentation, section JSON output: `jobs`, each with `error` (an errno), `read` and `write`
with `bw_bytes` and `total_ios`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from coldaisle.acceptance.parsers.shared import json_object
from coldaisle.acceptance.records import CannotTellError, Fault, Measured, Reading, Where


def fio(text: str, expects: Mapping[str, Any]) -> Reading:
    """Read the rates of all jobs together in MB/s, by direction; a direction without I/O is left out."""
    jobs = json_object(text, "fio").get("jobs")
    if not isinstance(jobs, list) or not jobs:
        raise CannotTellError("fio ran no job")
    try:
        errors = sorted({int(job["error"]) for job in jobs if job["error"]})
        rates = {way: sum(job[way]["bw_bytes"] for job in jobs if job[way]["total_ios"]) for way in ("read", "write")}
    except (KeyError, TypeError, ValueError) as error:
        raise CannotTellError(f"fio printed jobs of a form that is not known: {error!r}") from None
    disk = Where("disk", str(expects.get("directory", "")))
    if not errors and not any(rates.values()):
        raise CannotTellError("fio counted no I/O")
    measured = tuple(Measured(f"disk_{way}_mb_s", rate / 1e6, disk) for way, rate in rates.items() if rate)
    return Reading(measured, tuple(Fault(f"fio ended with {os.strerror(code)}", disk) for code in errors))
