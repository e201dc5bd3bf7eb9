"""Models of the catalog that a site names for its plant: whether they are there, and hold what is asked of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import catalog_line
from coldaisle.spec.base import near_miss
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import watts

Kind = Literal["cdus", "rear_doors", "ups", "pdus"]
NOUNS: dict[Kind, str] = {"cdus": "coolant unit", "rear_doors": "rear door", "ups": "UPS", "pdus": "rack PDU"}
"""Kinds of the catalog's plant, in words."""


def known(spec: SiteSpec, loc: Loc, kind: Kind, model: str) -> Iterator[Finding]:
    """Yield the finding of a model that the catalog does not have; nothing where it has it."""
    models = getattr(spec.catalog, kind)
    if model not in models:
        what = f"the catalog has no {NOUNS[kind]} {model}"
        yield finding(spec, loc, "unknown-model", what=what, fix=near_miss(model, [*models]))


def rated(spec: SiteSpec, loc: Loc, kind: Kind, model: str | None, asked: tuple[str, float, int]) -> Iterator[Finding]:
    """
    Yield what is wrong with a model that a part of the plant names.

    Args:
        spec: The site.
        loc: Path of the part.
        kind: Kind of the model.
        model: Its name; None where the part names none.
        asked: The key of the watts that the part is to carry, the watts, and how many of the model carry them.
    """
    key, asked_w, units = asked
    if model is None:
        return
    absent = list(known(spec, (*loc, "model"), kind, model))
    yield from absent
    rated_w = None if absent else getattr(spec.catalog, kind)[model].capacity_w
    if rated_w is not None and asked_w > rated_w * units:
        of = "a" if units == 1 else f"{units} x"
        what = f"{watts(asked_w)} is more than {of} {model} {'is' if units == 1 else 'are'} rated for, "
        what += watts(rated_w * units)
        fix = f"give {key}: {rated_w * units:.0f} or less, as its document says for the conditions of the site"
        have = catalog_line(spec, kind, model, "capacity_w")
        yield finding(spec, (*loc, key), "above-rating", what=what, have=have, fix=fix)
