"""
Changes in waves: a canary, then one failure domain after another, within limits, windows and a rule when to stop.

`begin` makes the waves of some changes, and `step` drives them. Nothing here reads a clock or touches a host.
"""

from coldaisle.waves.grouping import limits, plan_waves
from coldaisle.waves.machine import begin, reopen, step
from coldaisle.waves.records import Change, Limits, Target, Wave, WavesError
from coldaisle.waves.state import (
    Action,
    Go,
    Regressed,
    Reported,
    Resume,
    State,
    Stop,
    Tick,
    from_json,
    moved,
    to_json,
)

__all__ = [
    "Action",
    "Change",
    "Go",
    "Limits",
    "Regressed",
    "Reported",
    "Resume",
    "State",
    "Stop",
    "Target",
    "Tick",
    "Wave",
    "WavesError",
    "begin",
    "from_json",
    "limits",
    "moved",
    "plan_waves",
    "reopen",
    "step",
    "to_json",
]
