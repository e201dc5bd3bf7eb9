"""What is left of a fabric after the loss of any one part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LossKind = Literal["link", "uplink", "optic", "leaf", "spine", "core", "feed", "upstream"]
"""
What is lost: a node's cable, a cable between switches, a transceiver with all ports of its cage, a switch of a tier (a
`leaf` is any that nodes hang on), one feed of a rack, or one part of the power chain above the feeds.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossPlan:
    """
    The worst loss of any one part of a kind in a fabric.

    `part` is that part, empty where no loss of the kind changes anything. `hosts_cut_off` counts nodes that no port of
    theirs joins to most of the fabric any more, or that have no power; `rails_lost` is the most ports that one node
    loses. `bisection_left` is the share of the bandwidth between two halves of the leaves, taken so that the loss falls
    into one of them: None with fewer than two leaves. `promised` says that the fabric is meant to survive it.
    `unknown_devices` counts those of which no document says whether they stay up.
    """

    fabric: str
    kind: LossKind
    part: str
    hosts_cut_off: int
    rails_lost: int
    bisection_left: float | None
    promised: bool
    unknown_devices: int = 0
