"""Which answer an event has: the site's rules first, then Xids by the catalog, then the defaults below."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coldaisle.health.events import Event, Kind
from coldaisle.health.xids import xids
from coldaisle.spec.health import ACTIONS, Action, HealthLimits, HealthRule, HealthSpec

REPEATED_FLAPS = 5
"""Times that a link may go down in an hour before its node is drained. Ours: a cable that is plugged twice stays."""

_DEFAULTS: dict[tuple[Kind, str], Action] = {
    ("ecc", "uncorrected"): "reset",
    ("ecc", "sram-threshold"): "repair",
    ("ecc", "unrepairable"): "repair",
    ("ecc", "remap-failed"): "repair",
    ("nvlink", "sxid-fatal"): "reset",
    ("pcie", "fatal"): "reboot",
    ("pcie", "width"): "reboot",
    ("ras", "uncorrected"): "reset",
    ("ras", "reset-failed"): "reboot",
    ("gpu-lost", "missing"): "reset",
    ("sel", "memory-critical"): "repair",
    ("sel", "processor-critical"): "reboot",
    ("sel", "pcie-critical"): "reboot",
    ("sel", "leak-critical"): "repair",
    ("disk", "read-only"): "repair",
    ("disk", "unreliable"): "repair",
}

DEFAULT_RULES: tuple[HealthRule, ...] = (
    *(HealthRule(kind=kind, code=code, action=action) for (kind, code), action in _DEFAULTS.items()),
    HealthRule(kind="link", code="link-down", action="drain", at_least=REPEATED_FLAPS, within_s=3600),
)
"""
Answers without a rule of the site; all others, and Xids that the catalog does not know, are watched.

Ours, by what they cost: errors that a reset clears are reset (NVIDIA's SRAM threshold, unrepairable memory and failed
remaps are its terms for a replacement, as are a drive's own words that it is unreliable or can only be read); corrected
errors, pending remaps, fans, supplies, temperatures, slow disks and wrong clocks are watched, since a node works on.
"""

WATCHED = HealthRule(kind="xid", action="watch")
STATE_WINDOW_S = 7 * 86400
"""How long a state that nobody can read any more still counts."""


def severity(action: Action) -> int:
    """Return the rank of an answer; from that of `drain` on, a node loses its work."""
    return ACTIONS.index(action)


DRAINS = severity("drain")


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules in the order in which they are asked, and limits."""

    rules: tuple[HealthRule, ...]
    limits: HealthLimits

    def rule(self, event: Event) -> HealthRule:
        """Return the rule that answers an event."""
        fits = (rule for rule in self.rules if rule.kind == event.kind and _fits(rule, event.code))
        return next(fits, None) or _of_catalog(event) or WATCHED

    def action(self, event: Event) -> Action:
        """Return the answer to an event that is told as often as its rule wants."""
        return self.rule(event).action

    def window_s(self, event: Event) -> float:
        """Return how long an event counts, in seconds."""
        return STATE_WINDOW_S if event.state else self.rule(event).within_s


def policy_of(spec: HealthSpec | None) -> Policy:
    """Return the policy of a site; without a section of its own it is the defaults."""
    own = spec or HealthSpec()
    return Policy((*own.rules, *DEFAULT_RULES), own.limits)


def _fits(rule: HealthRule, code: str) -> bool:
    return rule.code in {"*", code, code.partition(":")[0]}


def _of_catalog(event: Event) -> HealthRule | None:
    known = xids().get(event.code) if event.kind == "xid" else None
    return HealthRule(kind="xid", code=event.code, action=known.action) if known else None


def without_cancelled(events: Iterable[Event]) -> list[Event]:
    """Return events without Xids that a later one of the same GPU takes back (NVIDIA/NVSentinel issue 1252)."""
    found = list(events)
    last: dict[tuple[str, str, str], float] = {}
    for event in found:
        for code in _cancelled_by(event):
            key = (event.node, event.part, code)
            last[key] = max(event.seen_at, last.get(key, event.seen_at))
    return [
        event
        for event in found
        if event.kind != "xid" or event.seen_at > last.get((event.node, event.part, event.code), float("-inf"))
    ]


def _cancelled_by(event: Event) -> list[str]:
    known = xids().get(event.code) if event.kind == "xid" else None
    return known.cancels if known else []
