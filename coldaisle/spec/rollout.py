"""
How changes go through the hosts of a pool, or the switches of a fabric: canary, waves, limits, windows.

Names are those that operators know: `max_unavailable` and its shares are Kubernetes', a canary and a soak those of
progressive delivery. Every default is ours and stated here; `docs/waves.md` tells what they mean for a site.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from coldaisle.spec.acceptance import Domain, Phase, TestName
from coldaisle.spec.base import Name, SpecModel, mistake

Share = Annotated[str, StringConstraints(pattern=r"^(100|[1-9][0-9]?)%$")]
Amount = Annotated[int, Field(ge=1, le=100_000)] | Share
"""A count, or a share such as 25%."""

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
Clock = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
Seconds = Annotated[int, Field(ge=0, le=604_800)]
"""Up to a week."""


def minutes(clock: str) -> int:
    """Return a time of day as minutes after midnight."""
    hours, _, rest = clock.partition(":")
    return int(hours) * 60 + int(rest)


class WindowSpec(SpecModel):
    """A maintenance window, by the site's own clock; one that closes before it opens ends on the next day."""

    days: list[Day] = Field(default=list(DAYS), min_length=1)
    """On which it opens."""
    opens: Clock
    closes: Clock

    @property
    def length_s(self) -> int:
        """Seconds from its opening to its end; one that closes when it opens lasts a day."""
        return ((minutes(self.closes) - minutes(self.opens)) % 1440 or 1440) * 60


class WaveAcceptanceSpec(SpecModel):
    """Tests of acceptance that the hosts of each wave go through, compared with what they reached before."""

    phase: Phase = "quick"
    """How long they may take."""
    domains: list[Domain] = Field(default_factory=list)
    """Only these failure domains; all where there is none."""
    tests: list[TestName] = Field(default_factory=list)
    """Only these tests; all of the phase where there is none."""
    max_loss: Share = "5%"
    """How much less than before a figure may be (for a temperature: more)."""


class TelemetrySpec(SpecModel):
    """A query of Prometheus that the hosts of a wave have to answer well."""

    name: Name
    query: str = Field(min_length=1)
    """PromQL; `$hosts` becomes the names of the wave's hosts as a regular expression."""
    max: float | None = None
    """The most that a value may be."""
    min: float | None = None
    """The least that a value may be."""

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        if self.max is None and self.min is None:
            raise mistake("missing-key", f"the query {self.name} has no limit", "give max, min or both")
        return self


class RolloutSpec(SpecModel):
    """The policy of changes; a pool without one is changed at once, as far as the provider's forks go."""

    canary: Annotated[int, Field(ge=0, le=100_000)] | Share = 1
    """Hosts that change before all others, as a count or a share."""
    wave_by: Literal["rack", "feed", "leaf", "nvlink", "pool"] = "rack"
    """The failure domain that one wave stays within; a feed is what supplies a rack's circuits."""
    max_at_once: Amount = 25
    """Hosts of one wave. 25 is how many a play works on side by side."""
    max_unavailable: dict[Literal["rack", "feed", "leaf", "nvlink", "pool", "role"], Amount] = Field(
        default={"pool": "25%"}
    )
    """Hosts that may be out in each domain of a kind; a quarter is what Kubernetes takes for a Deployment."""
    max_failed: Annotated[int, Field(ge=0, le=100_000)] = 0
    """Hosts that may fail after the canary before all stops."""
    canary_soak_s: Seconds = 600
    """How long a canary is watched before the next wave."""
    soak_s: Seconds = 60
    """How long every other wave is watched."""
    windows: list[WindowSpec] = Field(default_factory=list)
    """When a wave may start; without one, always."""
    wave_s: Seconds = 1800
    """How long a wave takes at most: it starts only in a window that is open for so long still."""
    on_regression: Literal["stop", "roll-back"] = "stop"
    """Whether the hosts of a wave that regressed are taken back, where a way back exists."""
    acceptance: WaveAcceptanceSpec | None = None
    """Tests that each wave has to pass before its hosts are given back."""
    telemetry: list[TelemetrySpec] = Field(default_factory=list)
    """Queries that must be within their limits at the end of each wave's soak."""
    drain: bool = True
    """Whether hosts of the cluster are cordoned and drained before a change that disturbs what runs on them."""
    drain_timeout_s: Annotated[int, Field(ge=1, le=604_800)] = 900
    """How long pods may take to go, disruption budgets included."""

    @model_validator(mode="after")
    def _a_wave_fits(self) -> Self:
        longest = max((window.length_s for window in self.windows), default=None)
        if longest is not None and longest < self.wave_s:
            what = f"no window is as long as a wave, which takes {self.wave_s} s"
            fix = "open a window for longer, or lower wave_s to what a wave of this site takes"
            raise mistake("window-too-short", what, fix, f"the longest window has {longest} s")
        return self
