"""How a change goes through the hosts of a pool: canary, waves by failure domain, limits and windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Amount = int | str
"""A count, or a share as `25%`, as Kubernetes writes `maxUnavailable`."""

Domain = Literal["rack", "feed", "leaf", "nvlink", "pool", "role"]
"""What hosts share that can take them down together; a `feed` is the part of the power chain above their circuits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPlan:
    """A maintenance window in the site's own time: days on which it opens (0 is Monday), minutes after midnight."""

    days: tuple[int, ...]
    opens_min: int
    closes_min: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptancePlan:
    """
    Acceptance of a pool by `up`.

    `after_failures` is what becomes of a node that fails three times in a row: `repair` in its journal, or a `ticket`.
    """

    phase: Literal["quick", "full", "soak"]
    domains: tuple[str, ...]
    after_failures: Literal["repair", "ticket"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveAcceptancePlan:
    """Tests of each wave; without `domains` or `tests` all of the phase. A figure may lose `max_loss_percent`."""

    phase: Literal["quick", "full", "soak"]
    domains: tuple[str, ...]
    tests: tuple[str, ...]
    max_loss_percent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryPlan:
    """A query of the Prometheus at `url`, and what its values may be at most and have to be at least."""

    name: str
    url: str
    query: str
    max: float | None
    min: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutPlan:
    """
    The policy of a pool or of a fabric's switches.

    `max_at_once` counts hosts of one wave; `max_unavailable` limits, for each domain of a kind, hosts that are out, be
    it for the wave or since they failed; shares are of all its hosts, rounded down, and never less than one host.
    `max_failed` hosts may fail after the canary without a stop. `wave_s` is what a wave needs of a window before its
    end. Without `windows`, it is always open. Each wave has to pass `acceptance` before its soak, and `telemetry` at
    the end of it.
    """

    canary: Amount
    wave_by: Domain
    max_at_once: Amount
    max_unavailable: Mapping[Domain, Amount]
    max_failed: int
    canary_soak_s: int
    soak_s: int
    windows: tuple[WindowPlan, ...]
    timezone: str
    wave_s: int
    on_regression: Literal["stop", "roll-back"]
    drain: bool
    drain_timeout_s: int
    acceptance: WaveAcceptancePlan | None = None
    telemetry: tuple[TelemetryPlan, ...] = ()
