"""Which faults are in force: a small file a device, which BMCs and machines look at when it matters."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from sim.state import State, read_json, write_json


def active_faults(state: State, device: str) -> Mapping[str, Any]:
    """Return the faults of a device by name, each with its options."""
    return read_json(state.faults / f"{device}.json")


def record_fault(state: State, device: str, name: str, options: Mapping[str, Any]) -> None:
    """Put a fault in force."""
    write_json(state.faults / f"{device}.json", {**active_faults(state, device), name: dict(options)})


def forget_fault(state: State, device: str, name: str) -> None:
    """Take a fault back; one that is not in force is no error."""
    left = {key: value for key, value in active_faults(state, device).items() if key != name}
    write_json(state.faults / f"{device}.json", left)


def delay_s(options: Mapping[str, Any], device: str, count: int) -> float:
    """
    Return how late the answer number `count` of a slow BMC comes, in seconds.

    The same seed, device and count give the same delay, between `at_least_s` and `at_most_s`.
    """
    source = random.Random(f"{options.get('seed', 0)}/{device}/{count}")  # noqa: S311 - repeatable, not secret
    return source.uniform(float(options.get("at_least_s", 3.0)), float(options.get("at_most_s", 8.0)))
