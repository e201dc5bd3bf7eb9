"""What was built against what was planned: cables as switches and hosts tell of them, and the plan's cables."""

from coldaisle.verify.cabling import compare
from coldaisle.verify.read import UnknownFormatError, read
from coldaisle.verify.report import CablingReport, Finding, Unknown
from coldaisle.verify.seen import Answer, Neighbour, Told
from coldaisle.verify.wanted import Wanted, wanted

__all__ = [
    "Answer", "CablingReport", "Finding", "Neighbour", "Told", "Unknown", "UnknownFormatError", "Wanted", "compare",
    "read", "wanted",
]  # fmt: skip
