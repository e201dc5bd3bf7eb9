"""Lines that faults put into the kernel's log of a simulated host, in the forms that drivers write them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

LOGGED = frozenset({"gpu-xid", "link-flap"})
"""Faults with lines; each line has its time, from the moment of the injection backwards."""

LOST = 79
"""The Xid of a GPU that is not on the bus any more; with every other one it stays."""

TEXTS = {13: "Graphics SM Warp Exception on (GPC 0, TPC 0, SM 0)", LOST: "GPU has fallen off the bus."}
MOST_LINES = 200
"""The record of a guest's hardware is a disk of 64 KiB."""


def stamped(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a fault, with the time of its injection where it writes lines."""
    return {"at": time.time(), **options} if name in LOGGED else dict(options)


def xid_lines(options: Mapping[str, Any], pci: str) -> list[dict[str, Any]]:
    """Return lines of an Xid (`code`), `count` times; the driver names a slot without its function."""
    code = int(options.get("code", LOST))
    text = f"NVRM: Xid (PCI:{pci[4:14]}): {code}, pid=4711, name=python3, {TEXTS.get(code, 'simulated')}"
    return _timed(options, [text] * _count(options, 1))


def flap_lines(options: Mapping[str, Any], port: str) -> list[dict[str, Any]]:
    """Return lines of a port that goes down and comes up again, `count` times."""
    pair = [f"mlx5_core 0000:98:00.0 {port}: Link {state}" for state in ("down", "up")]
    return _timed(options, pair * _count(options, 6))


def _count(options: Mapping[str, Any], usual: int) -> int:
    return min(int(options.get("count", usual)), MOST_LINES // 2)


def _timed(options: Mapping[str, Any], texts: list[str]) -> list[dict[str, Any]]:
    """One second from line to line, so that the last is told at the injection."""
    at = float(options.get("at", 0.0))
    return [{"at": at - back, "text": text} for back, text in zip(range(len(texts) - 1, -1, -1), texts, strict=True)]
