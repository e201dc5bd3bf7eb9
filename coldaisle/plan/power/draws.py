"""
What a device draws: at most, with the cap of its pool, usually, for milliseconds above it, and while it starts.

A figure has three states: known, not known (None, and so is each sum with it), and not applicable, where a document
says that a device has no such draw, so that its maximum counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from coldaisle.plan.model import DrawsPlan
from coldaisle.spec.catalog import Gpu, Switch, System
from coldaisle.spec.draws import Draw
from coldaisle.spec.power import DrawRules, PowerCap

BUDGETED = "budgeted by the site"
"""Source of a draw that the site itself gives, instead of the catalog."""
CAPPED = "capped by the site"
"""Beginning of the source of a draw that a pool's power cap lowers."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a device draws at most, where that comes from, and what it draws otherwise."""

    max_w: float | None
    source: str
    draws: DrawsPlan


def drawn(
    model: System | Switch,
    rules: DrawRules,
    *,
    budget_w: float | None = None,
    cap: PowerCap | None = None,
    gpu: Gpu | None = None,
) -> Drawn:
    """
    Return what a device draws.

    Args:
        model: Its entry of the catalog.
        rules: What the site assumes where the catalog has no figure.
        budget_w: The draw that the site budgets for it, in place of the catalog's.
        cap: The limit of its pool.
        gpu: The model of its GPUs, which a cap of each GPU needs.
    """
    largest_w = budget_w or model.max_power_w
    source = BUDGETED if budget_w else model.source_of("max_power_w") or ""
    capped = largest_w
    if cap is not None and isinstance(model, System):
        capped = capped_w(model, largest_w, cap, gpu)
        source = f"{CAPPED} at {cap_words(cap)}; {source}"
    return Drawn(capped, source, _draws(model, rules, largest_w, capped))


def capped_w(model: System, largest_w: float | None, cap: PowerCap, gpu: Gpu | None) -> float | None:
    """
    Return what a node draws at most with a cap, in watts; None where a figure that it needs is not known.

    A cap of the node holds for all that it draws. A cap of each GPU takes off what each module may draw above it, and
    leaves the rest of the node as it is. A cap above what is drawn changes nothing.
    """
    if largest_w is None:
        return None
    if cap.scope == "node":
        return min(largest_w, cap.watts)
    if model.gpus is None:
        return largest_w
    if gpu is None or gpu.module_power_w is None:
        return None
    return largest_w - model.gpus.count * max(0.0, gpu.module_power_w - cap.watts)


def cap_words(cap: PowerCap) -> str:
    """Return a cap in words: `600 W for each GPU`."""
    return f"{cap.watts:g} W for {'each GPU' if cap.scope == 'gpu' else 'the node'}"


def _draws(model: System | Switch, rules: DrawRules, largest_w: float | None, capped: float | None) -> DrawsPlan:
    typical_w = _either(model.typical_power_w, rules.typical, largest_w)
    # A cap is set once a node runs, and slower than an excursion of milliseconds: neither of these two is lowered by
    # it where a document gives them.
    return DrawsPlan(
        typical_w=None if typical_w is None or capped is None else min(typical_w, capped),
        transient_w=_either(model.transient_power_w, rules.transient, capped),
        startup_w=_either(model.startup_power_w, rules.startup, largest_w),
    )


def _either(figure: Draw, rule: float | None, largest_w: float | None) -> float | None:
    """Return the catalog's figure, or the site's rule; the maximum where no such draw is applicable."""
    if figure == "not-applicable":
        return largest_w
    if figure is not None:
        return figure
    return None if rule is None or largest_w is None else rule * largest_w
