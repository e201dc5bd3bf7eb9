"""
BMCs on a network: where to look, what answers there without a login, and what of it the plan expects.

Finding (`probe`) does the network's work; reading lists of addresses (`sources`) and comparing (`compare`) are pure.
"""

from __future__ import annotations

from coldaisle.discovery.compare import Comparison, Place, compare
from coldaisle.discovery.probe import Found, probe_all
from coldaisle.discovery.sources import Candidate, SourceError, from_leases, from_list, from_range

__all__ = [
    "Candidate",
    "Comparison",
    "Found",
    "Place",
    "SourceError",
    "compare",
    "from_leases",
    "from_list",
    "from_range",
    "probe_all",
]
