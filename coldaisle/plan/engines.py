"""
What is known of inference engines: the metrics that they export, and from which release under which name.

An autoscaler that asks for a name which the engine does not export sees nothing and does nothing, so names are looked
up here and checked before anything is applied (A4, C37).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

VLLM_IMAGE = "vllm/vllm-openai"
VLLM_PORT = 8000
VLLM_QUEUE = "vllm:num_requests_waiting"
"""Requests that wait for a place in a batch: a gauge, in every release. Source: vLLM, docs/usage/metrics."""

VLLM_METRICS = frozenset(
    {
        "vllm:num_requests_running",
        VLLM_QUEUE,
        "vllm:kv_cache_usage_perc",
        "vllm:prefix_cache_queries_total",
        "vllm:prefix_cache_hits_total",
        "vllm:time_to_first_token_seconds",
        "vllm:inter_token_latency_seconds",
        "vllm:request_queue_time_seconds",
        "vllm:prompt_tokens_total",
        "vllm:generation_tokens_total",
        "vllm:request_success_total",
    }
)


@dataclass(frozen=True, slots=True)
class Rename:
    """A metric that went away: its old name, its new one, and the release that dropped the old."""

    old: str
    new: str
    gone_in: tuple[int, ...]


VLLM_RENAMES = (
    Rename("vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc", (0, 25, 0)),
    Rename("vllm:gpu_prefix_cache_queries_total", "vllm:prefix_cache_queries_total", (0, 25, 0)),
    Rename("vllm:gpu_prefix_cache_hits_total", "vllm:prefix_cache_hits_total", (0, 25, 0)),
    Rename("vllm:time_per_output_token_seconds", "vllm:inter_token_latency_seconds", (0, 25, 0)),
)
"""Source: vLLM's deprecation notes; the removal is dated by cloud-native-ref#1574."""


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a release: `v0.32.0-rc1` gives (0, 32, 0)."""
    core = re.split(r"[-+]", version, maxsplit=1)[0]
    return tuple(int(number) for number in re.findall(r"\d+", core))


def right_metric(metric: str, version: str) -> str | None:
    """Return what this release of vLLM exports in place of a wrong `metric`, or None when it is right."""
    with_colon = metric.replace("vllm_", "vllm:", 1) if metric.startswith("vllm_") else metric
    for rename in VLLM_RENAMES:
        if with_colon == rename.old and version_numbers(version) >= rename.gone_in:
            return rename.new
    return with_colon if with_colon != metric else None
