"""One report of drift over all layers of a stack, as plain data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldaisle.drift.answers import Answer

Kind = Literal["drifted", "pending", "could-not-tell", "in-maintenance", "ignored"]
KINDS: tuple[Kind, ...] = ("drifted", "pending", "could-not-tell", "in-maintenance", "ignored")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """
    One thing that is not as planned, or of which that is not known.

    `pending` tells a plan that has not been applied yet from a site that has changed by itself. `operation` is what
    `up` would do to the resource. `host` is None for things that are no host's. `left_alone` says who works on the
    host, where that is why it does not count.
    """

    layer: str
    resource: str
    host: str | None
    thing: str
    answer: Answer
    operation: str
    pending: bool = False
    ignored_because: str | None = None
    left_alone: str | None = None

    @property
    def kind(self) -> Kind:
        """Return how the item counts."""
        if self.ignored_because is not None:
            return "ignored"
        if self.left_alone is not None:
            return "in-maintenance"
        if hasattr(self.answer, "why"):
            return "could-not-tell"
        return "pending" if self.pending else "drifted"

    @property
    def destroys(self) -> bool:
        """Whether `up` would delete or replace something because of it."""
        return "delete" in self.operation or "replace" in self.operation

    @property
    def name(self) -> str:
        """Return the item's place: resource, host and thing."""
        return " ".join(part for part in (self.resource, self.host, self.thing) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """
    What a comparison of a stack with its site found.

    `same` counts, by resource, the things that are as planned. `errors` are failures of the comparison itself.
    `taken_at` is when the site was asked (ISO 8601); what was seen may have changed since. `as_of` is, by host, when it
    last told something: what is known of a host that did not answer now is as old as that.
    """

    stack: str
    taken_at: str
    items: tuple[Item, ...]
    same: dict[str, int]
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    as_of: Mapping[str, str] = field(default_factory=dict)

    def age_of(self, item: Item) -> str | None:
        """Return when an item's host last told something (ISO 8601); None where that is not known."""
        return self.as_of.get(item.host) if item.host else None

    def of_kind(self, kind: Kind) -> tuple[Item, ...]:
        """Return the items of a kind; those that would destroy something come first."""
        return tuple(sorted((item for item in self.items if item.kind == kind), key=lambda item: not item.destroys))

    def counts(self) -> dict[str, int]:
        """Return the number of things by kind, and of those that are as planned."""
        found = Counter(item.kind for item in self.items)
        return {"same": sum(self.same.values())} | {kind: found[kind] for kind in KINDS}

    def summary(self) -> str:
        """Return the counts in a sentence."""
        counts = self.counts()
        text = ", ".join(
            f"{count} {kind.replace('-', ' ')}" for kind, count in counts.items() if count or kind == "same"
        )
        return f"{text} (stack {self.stack}, asked {self.taken_at})"
