"""Checks of power: feeds, banks and phases, supplies, draws, and the chain above the racks."""

from coldaisle.check.power.banks import BANK_CHECKS
from coldaisle.check.power.draws import DRAW_CHECKS
from coldaisle.check.power.feeds import check_feed_capacity, check_feed_loss
from coldaisle.check.power.figures import check_missing_figures
from coldaisle.check.power.models import MODEL_CHECKS
from coldaisle.check.power.supplies import SUPPLY_CHECKS
from coldaisle.check.power.upstream import check_catchers, check_upstream_capacity, check_upstream_names

__all__ = ["POWER_CHECKS"]

POWER_CHECKS = (
    check_feed_capacity,
    check_feed_loss,
    *SUPPLY_CHECKS,
    check_upstream_names,
    check_upstream_capacity,
    check_catchers,
    *BANK_CHECKS,
    *DRAW_CHECKS,
    *MODEL_CHECKS,
    check_missing_figures,
)
