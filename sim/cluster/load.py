"""
Load on a model endpoint of the simulated site: OpenAI requests at a steady rate, round robin over the ready pods.

The rate does not wait for answers (an open loop), since that is how users behave, and what makes a queue grow.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp

from sim.cluster.api import Api, ApiError
from sim.cluster.layout import layout_of
from sim.cluster.names import SERVICE_LABEL, SLICES, ready_addresses
from sim.errors import SimError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from coldaisle.plan.model import SitePlan

PROMPT = "Name the parts of a cold aisle and say what each of them is for."
REFRESH_S = 1.0
REQUEST_TIMEOUT_S = 300.0
HTTP_OK = 200
PROGRESS_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What to send to an endpoint: how often, for how long, and how long the answers are."""

    endpoint: str
    requests_per_s: float
    seconds: float
    max_tokens: int = 128
    drain_s: float = 10.0
    """How long to wait for answers after the last request was sent."""


@dataclass(slots=True)
class LoadReport:
    """What came back. `unanswered` are requests without an answer when the load ended."""

    sent: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    latencies_s: list[float] = field(default_factory=list)
    by_pod: Counter[str] = field(default_factory=Counter)

    @property
    def succeeded(self) -> int:
        """Requests that were answered with 200."""
        return self.statuses["200"]

    @property
    def unanswered(self) -> int:
        """Requests that were sent and had neither an answer nor an error."""
        return self.sent - sum(self.statuses.values())

    @property
    def failed(self) -> int:
        """Requests that were answered with an error, or not connected at all."""
        return sum(self.statuses.values()) - self.succeeded

    def summary(self) -> dict[str, float | int | None]:
        """Return the figures of the run, by name; latencies in seconds, None when nothing was answered."""
        return {
            "sent": self.sent,
            "succeeded": self.succeeded,
            "failed": self.failed,
            "unanswered": self.unanswered,
            "replicas_used": len(self.by_pod),
            "latency_p50_s": self.percentile_s(50),
            "latency_p95_s": self.percentile_s(95),
        }

    def percentile_s(self, percent: float) -> float | None:
        """Return a percentile of the latency in seconds; None when nothing was answered."""
        ordered = sorted(self.latencies_s)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else None


def load(plan: SitePlan, state: Path, wanted: Load, progress: Callable[[str], None]) -> LoadReport:
    """
    Send load to a model endpoint of the plan and return what came back.

    Raises SimError when the plan has no such endpoint, or when no pod of it is ready.
    """
    namespaces = {each.name: each.namespace for each in plan.endpoints}
    if wanted.endpoint not in namespaces:
        have = f"endpoints: {', '.join(sorted(namespaces)) or 'none'}"
        raise SimError(wanted.endpoint, "the site serves no such endpoint", have, "name one of them")
    kubeconfig = layout_of(plan, state).admin_kubeconfig
    return asyncio.run(send(kubeconfig, namespaces[wanted.endpoint], wanted, progress))


async def send(kubeconfig: Path, namespace: str, wanted: Load, progress: Callable[[str], None]) -> LoadReport:
    """Send load to the Service of an endpoint; see `load`."""
    async with Api(kubeconfig) as api, _session() as session:
        pods = Pods(api, namespace, wanted.endpoint)
        await pods.refresh()
        following = asyncio.create_task(pods.follow())
        try:
            return await _send_all(session, pods, wanted, progress)
        finally:
            following.cancel()


class Pods:
    """The ready pods of a Service, in turn."""

    def __init__(self, api: Api, namespace: str, service: str) -> None:
        """Start with none; `follow` keeps them up to date."""
        self._api, self._where = api, f"{namespace}/{service}"
        slices = SLICES.replace("/endpointslices", f"/namespaces/{namespace}/endpointslices")
        self._path = f"{slices}?labelSelector={SERVICE_LABEL}%3D{service}"
        self._turns = itertools.count()
        self.urls: list[str] = []

    async def refresh(self) -> None:
        """Ask for the pods once."""
        self.urls = pod_urls((await self._api.request("GET", self._path))["items"])

    async def follow(self) -> None:
        """Ask for the pods every second; while the API server does not answer, the last ones stay."""
        while True:
            await asyncio.sleep(REFRESH_S)
            with suppress(aiohttp.ClientError, ApiError, TimeoutError):
                await self.refresh()

    def next_url(self) -> str:
        """Return the next pod's URL. Raises SimError when no pod is ready."""
        if not self.urls:
            fix = f"look at `kubectl -n {self._where.split('/')[0]} get pods`"
            raise SimError(self._where, "the endpoint has no ready pod", "no address in its endpoint slices", fix)
        return self.urls[next(self._turns) % len(self.urls)]


def pod_urls(slices: list[dict[str, Any]]) -> list[str]:
    """Return the URL of each ready pod in some endpoint slices, in order."""
    return [
        f"http://{address}:{port['port']}"
        for item in slices
        for port in (item.get("ports") or [])[:1]
        for address in ready_addresses(item)
    ]


def _session() -> aiohttp.ClientSession:
    timeout = aiohttp.ClientTimeout(total=REQUEST_TIMEOUT_S)
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout)


async def _send_all(
    session: aiohttp.ClientSession, pods: Pods, wanted: Load, progress: Callable[[str], None]
) -> LoadReport:
    report, tasks = LoadReport(), set[asyncio.Task[None]]()
    model = await _model(session, pods.next_url())
    started, told = time.monotonic(), 0.0
    while (elapsed := time.monotonic() - started) < wanted.seconds:
        if pods.urls:
            task = asyncio.create_task(_send_one(session, pods.next_url(), model, wanted, report))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            report.sent += 1
        if elapsed - told >= PROGRESS_S:
            told = elapsed
            progress(f"{elapsed:.0f} s: {report.sent} sent, {report.succeeded} answered, {len(pods.urls)} pods")
        due = started + (report.sent / wanted.requests_per_s if pods.urls else elapsed + REFRESH_S)
        await asyncio.sleep(max(0.0, due - time.monotonic()))
    if tasks and wanted.drain_s:
        await asyncio.wait(tasks, timeout=wanted.drain_s)
    for task in list(tasks):
        task.cancel()
    return report


async def _model(session: aiohttp.ClientSession, url: str) -> str:
    async with session.get(f"{url}/v1/models") as response:
        return str((await response.json())["data"][0]["id"])


async def _send_one(session: aiohttp.ClientSession, url: str, model: str, wanted: Load, report: LoadReport) -> None:
    body = {"model": model, "prompt": PROMPT, "max_tokens": wanted.max_tokens}
    since = time.monotonic()
    with suppress(asyncio.CancelledError):
        try:
            async with session.post(f"{url}/v1/completions", json=body) as response:
                await response.read()
                report.statuses[str(response.status)] += 1
                report.by_pod[url] += 1
                if response.status == HTTP_OK:
                    report.latencies_s.append(time.monotonic() - since)
        except (aiohttp.ClientError, TimeoutError) as error:
            report.statuses[type(error).__name__] += 1
