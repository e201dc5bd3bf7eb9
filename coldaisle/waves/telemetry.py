"""
What telemetry says of a wave: values against limits, with what they were before it. Pure.

No value is no good news: a query that gives nothing, a number that is none, or a host that was told of before the wave
and is told of no more, stops a rollout as a bad value does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coldaisle.plan.model import TelemetryPlan

HOSTS = "$hosts"
"""In a query, the names of the wave's hosts as a regular expression (RE2, which Prometheus matches with)."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One series of an answer: its labels and its value now."""

    labels: Mapping[str, str]
    value: float

    @property
    def name(self) -> str:
        """Return the labels as PromQL writes them; empty where there are none."""
        return ", ".join(f'{name}="{value}"' for name, value in sorted(self.labels.items()))


Answer = Sequence[Sample] | str
"""What a query gave, or why it could not be told."""


def query_for(asked: TelemetryPlan, hosts: Sequence[str]) -> str:
    """Return the query of some hosts."""
    names = "|".join(re.escape(host).replace("\\-", "-") for host in sorted(hosts))
    return asked.query.replace(HOSTS, names.replace("\\", "\\\\"))


def worse(asked: TelemetryPlan, before: Answer, now: Answer, hosts: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """
    Return what has regressed, from what to what, and the hosts that a series' labels name; nothing where all is well.

    Args:
        asked: The query and its limits.
        before: What it gave before the wave.
        now: What it gives after it.
        hosts: The hosts of the wave.

    """
    if isinstance(now, str):
        return f"telemetry {asked.name} could not be told: {now}", ()
    if not now:
        return f"telemetry {asked.name} gave no value (a sum over nothing needs 'or vector(0)')", ()
    known = {} if isinstance(before, str) else {sample.name: sample.value for sample in before}
    bad = [(sample, why) for sample in now if (why := _beyond(asked, sample.value))]
    texts = [f"telemetry {asked.name}{_of(sample)} {_from(known, sample)}{why}" for sample, why in bad]
    gone = _told([] if isinstance(before, str) else before) - _told(now)
    lost = [host for host in hosts if host in gone]
    texts += [f"telemetry {asked.name} told of {host} before the wave, and tells nothing now" for host in lost]
    named = gone | _told(sample for sample, _ in bad)
    blamed = [host for host in hosts if host in named]
    return "; ".join(texts), tuple(blamed)


def _beyond(asked: TelemetryPlan, value: float) -> str:
    if math.isnan(value):
        return "is no number"
    if asked.max is not None and value > asked.max:
        return f"is {value:g}, over {asked.max:g}"
    return f"is {value:g}, under {asked.min:g}" if asked.min is not None and value < asked.min else ""


def _from(known: Mapping[str, float], sample: Sample) -> str:
    return f"was {known[sample.name]:g} before the wave and " if sample.name in known else ""


def _of(sample: Sample) -> str:
    return f" {{{sample.name}}}" if sample.labels else ""


def _told(samples: Iterable[Sample]) -> set[str]:
    """Return what the labels of series name, hosts among it; other labels may change with each start of an exporter."""
    return {word for sample in samples for word in _words(sample)}


def _words(sample: Sample) -> set[str]:
    """Return what labels name: a host, or its name before a port or a domain (`r01-n01.site.example:9400`)."""
    values = list(sample.labels.values())
    return {*values, *(value.partition(":")[0].partition(".")[0] for value in values)}
