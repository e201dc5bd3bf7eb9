"""Each sum of the facility's ledgers written out: its addends, and where each of them comes from."""

from coldaisle.render.ledger.explain import explain, targets
from coldaisle.render.ledger.sums import Addend, Explanation, Figure, Sum

__all__ = ["Addend", "Explanation", "Figure", "Sum", "explain", "targets"]
