"""Limits by system, out of the catalog: the site's own entries go over those of the package, figure by figure. Pure."""

from __future__ import annotations

from coldaisle.acceptance.steps import Floors
from coldaisle.spec.acceptance import METRICS
from coldaisle.spec.catalog import Catalog


def floors(catalog: Catalog) -> Floors:
    """Return, by system and metric, the limit and its document; a figure that is missing is absent."""
    found: dict[str, dict[str, tuple[float, str]]] = {}
    # The catalog has the entries of the package first, then those that the site adds.
    for entry in catalog.acceptance.values():
        figures = {metric: getattr(entry, metric) for metric in METRICS}
        known = {
            metric: (value, entry.source_of(metric) or "") for metric, value in figures.items() if value is not None
        }
        for system in entry.systems:
            found.setdefault(system, {}).update(known)
    return found
