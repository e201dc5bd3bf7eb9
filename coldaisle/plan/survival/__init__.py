"""What survives the loss of any one link, switch, transceiver or power feed, and what a fabric promises."""

from coldaisle.plan.survival.losses import plan_survival

__all__ = ["plan_survival"]
