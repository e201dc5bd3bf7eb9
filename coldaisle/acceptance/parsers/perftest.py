"""
`ib_write_bw` and its kin.

Source of the form: perftest's manual pages and its own columns: `#bytes #iterations BW peak[…] BW average[…]
MsgRate[Mpps]`, in MB/sec (2^20 bytes) or, with --report_gbits, in Gb/sec (10^9 bits). The guests of the rdma lab run
the real ones, whose output is read by this module too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from coldaisle.acceptance.parsers.shared import figure
from coldaisle.acceptance.records import CannotTellError, Measured, Reading

_HEAD = re.compile(r"#bytes\s+#iterations\s+BW peak\[(MB|Gb)/sec\]\s+BW average\[(MB|Gb)/sec\]")
_ROW = re.compile(r"^\s*(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)(?:\s+[\d.]+)?\s*$", re.MULTILINE)
_WRONG = re.compile(r"couldn't|unable|fail|error", re.IGNORECASE)
_MIB_BITS = 8 * 2**20


class Transferred(NamedTuple):
    """One row: bytes of a message, messages, and the mean rate in gigabits a second."""

    message_bytes: int
    messages: int
    average_gbps: float


def transferred(text: str) -> Transferred:
    """Return the last row that the program printed. Raises CannotTellError where it printed none."""
    head = _HEAD.search(text)
    rows = _ROW.findall(text[head.end() :]) if head else []
    if head is None or not rows:
        raise CannotTellError(f"no figure was printed: {_said(text)}")
    size, count, _peak, average = rows[-1]
    value = figure(average, "the mean rate")
    return Transferred(int(size), int(count), value * _MIB_BITS / 1e9 if head[2] == "MB" else value)


def _said(text: str) -> str:
    """Return the first line that tells of something wrong, else the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip().strip("-")] or ["it said nothing"]
    return next((line for line in lines if _WRONG.search(line)), lines[-1])


def perftest(text: str, _expects: Mapping[str, Any]) -> Reading:
    """Read the mean rate between two ports in Gb/s."""
    return Reading((Measured("rdma_write_gbps", transferred(text).average_gbps),))
