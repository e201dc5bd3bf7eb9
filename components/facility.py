"""
What stands in the halls: racks with their budgets, the feeds' headroom, and what cools them.

Each ledger is an input of its component, since a preview compares inputs: `pulumi preview --diff` shows a budget before
and after. Figures have one decimal, so that two of them can be read beside each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulumi import ComponentResource, ResourceOptions

if TYPE_CHECKING:
    from coldaisle.plan.model import (
        BankPlan,
        CoolingPlan,
        DrawsPlan,
        FeedPlan,
        LedgerLine,
        PhasePlan,
        RackPlan,
        UpstreamPlan,
    )


class Rack(ComponentResource):
    """A rack: its devices from the bottom up, and its ledgers of power, air and rack units."""

    def __init__(self, name: str, plan: RackPlan, opts: ResourceOptions | None = None) -> None:
        """Show the rack of `plan`."""
        ledger = {
            "place": f"{plan.hall}/{plan.row}",
            "usedU": plan.used_u,
            "heightU": plan.height_u,
            "powerW": _shown(plan.power_w),
            "powerLines": [_line(line) for line in plan.power_lines],
            "draws": _draws(plan.draws),
            "feeds": {feed.name: _feed(feed) for feed in plan.feeds},
            "heatAirW": _shown(plan.heat_air_w),
            "heatLiquidW": _shown(plan.heat_liquid_w),
            "airflowCfm": _shown(plan.airflow_cfm),
            "weightKg": _shown(plan.weight_kg),
            "devices": [
                f"U{device.rack_unit} {device.device} ({device.model})"
                for device in sorted(plan.devices, key=lambda device: device.rack_unit)
            ],
        }
        super().__init__("coldaisle:facility:Rack", name, ledger, opts)
        self.register_outputs(ledger)


def _shown(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def _draws(draws: DrawsPlan) -> dict[str, float | None]:
    """Return what is drawn beside the maximum: usually, in excursions of milliseconds, and at start-up."""
    return {
        "typicalW": _shown(draws.typical_w),
        "transientW": _shown(draws.transient_w),
        "startupW": _shown(draws.startup_w),
    }


def _feed(feed: FeedPlan) -> dict[str, object]:
    """Return the ledger of a circuit; banks and phases are a line each, and left out where the site names none."""
    ledger: dict[str, object] = {
        "capacityW": _shown(feed.capacity_w),
        "loadW": _shown(feed.load_w),
        "loadAfterLossW": _shown(feed.load_after_loss_w),
        "draws": _draws(feed.draws),
    }
    if feed.banks:
        ledger["banks"] = {bank.name: _current(bank) for bank in feed.banks}
        ledger["phases"] = {phase.name: _current(phase) for phase in feed.phase_loads}
    return ledger


def _current(part: BankPlan | PhasePlan) -> str:
    now, after = (_amperes(value) for value in (part.load_a, part.load_after_loss_a))
    return f"{now} of {_amperes(part.capacity_a)}, {after} after a loss"


def _amperes(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1f} A"


def _line(line: LedgerLine) -> str:
    each = "an unknown power" if line.each is None else f"{line.each:g} W"
    return f"{line.count} x {line.item} at {each} ({line.source})"


class CoolingLoop(ComponentResource):
    """A cooling loop or a set of air handlers: what it can remove, and what the racks give it to remove."""

    def __init__(self, name: str, plan: CoolingPlan, opts: ResourceOptions | None = None) -> None:
        """Show the loop of `plan`."""
        ledger = {
            "kind": plan.kind,
            "capacityW": _shown(plan.capacity_w),
            "capacityAfterLossW": _shown(plan.capacity_after_loss_w),
            "loadW": _shown(plan.load_w),
            "racks": len(plan.racks),
        }
        super().__init__("coldaisle:facility:CoolingLoop", name, ledger, opts)
        self.register_outputs(ledger)


class PowerFeed(ComponentResource):
    """A source of power above the racks (utility, UPS, panel): what it may carry, and what hangs on it."""

    def __init__(self, name: str, plan: UpstreamPlan, opts: ResourceOptions | None = None) -> None:
        """Show the source of `plan`."""
        ledger = {
            "kind": plan.kind,
            "fedBy": plan.fed_by,
            "capacityW": _shown(plan.capacity_w),
            "loadW": _shown(plan.load_w),
            "loadAfterLossW": _shown(plan.load_after_loss_w),
            "worstLoss": plan.worst_loss,
            "lossW": _shown(plan.loss_w),
            "catcherFor": list(plan.catcher_for),
            "draws": _draws(plan.draws),
        }
        super().__init__("coldaisle:facility:PowerFeed", name, ledger, opts)
        self.register_outputs(ledger)
