"""
`gpu_burn SECONDS`.

Source of the form: the README and the source of gpu-burn: lines of progress that end in carriage returns, with
`errors:` and `temps:`, then `Tested N GPUs:` and `GPU i: OK` or `GPU i: FAULTY`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from coldaisle.acceptance.parsers.shared import missing_gpus
from coldaisle.acceptance.records import CannotTellError, Fault, Measured, Reading, Where

_TESTED = re.compile(r"^Tested (\d+) GPUs:\s*$", re.MULTILINE)
_VERDICT = re.compile(r"^\s*GPU (\d+): (OK|FAULTY)\s*$", re.MULTILINE)
_TEMPERATURES = re.compile(r"temps: ([-\d C]+)")


def gpu_burn(text: str, expects: Mapping[str, Any]) -> Reading:
    """Read the verdict on each GPU, and the highest temperature (°C) that each reached."""
    head = _TESTED.search(text)
    if head is None:
        raise CannotTellError("gpu_burn ended without its verdicts")
    verdicts = {int(index): word for index, word in _VERDICT.findall(text[head.end() :])}
    if len(verdicts) != int(head[1]):
        raise CannotTellError(f"gpu_burn tested {head[1]} GPUs and printed verdicts on {len(verdicts)}")
    faulty = (index for index, word in sorted(verdicts.items()) if word == "FAULTY")
    faults = [Fault("gpu_burn computed wrong results under load", Where("gpu", str(index))) for index in faulty]
    faults += missing_gpus(verdicts, expects, "gpu_burn")
    measured = (Measured("gpu_temperature_c", value, Where("gpu", str(at))) for at, value in _hottest(text).items())
    return Reading(tuple(measured), tuple(faults))


def _hottest(text: str) -> dict[int, float]:
    """Return the highest temperature of each GPU, by its place in the line; a GPU that tells none has none."""
    found: dict[int, float] = {}
    for line in _TEMPERATURES.findall(text):
        for at, word in enumerate(line.split(" - ")):
            degrees = word.removesuffix("C").strip().removesuffix("C").strip()
            if degrees.isdigit():
                found[at] = max(found.get(at, 0.0), float(degrees))
    return found
