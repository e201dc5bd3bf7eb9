"""
Runs the real process of every pod that has one: started when KWOK has given it an address, probed, restarted, stopped.

Readiness is what the pod's own probes say of the process, so the endpoint slices, the Service and the autoscaler see
what they would see on a real site.
"""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import aiohttp

from sim.cluster import prometheus
from sim.cluster.api import Api, ApiError
from sim.cluster.kubelets import condition, report
from sim.cluster.kwok import REAL_IMAGES
from sim.cluster.supervisor import backoff_s
from sim.cluster.volumes import NotYetError
from sim.cluster.workloads import ProcessWorkload, Workload, workload
from sim.errors import SimError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.cluster.layout import Layout

Json = dict[str, Any]
STARTUP_POLL_S = 1.0
DEFAULT_PERIOD_S = 10
WAIT_S = 1.0


class Runner:
    """All pods with a real process, by their uid."""

    def __init__(self, layout: Layout, api: Api, hosts: Callable[[], str]) -> None:
        """Start with none."""
        self._layout, self._api, self._hosts = layout, api, hosts
        self._pods: dict[str, RunningPod] = {}
        self._stopping: set[asyncio.Task[None]] = set()

    async def handle(self, event: str, found: Json) -> None:
        """Take one event of the pods' watch."""
        if event == "SYNC":
            self._sync(found["items"])
        else:
            self._one(event, found)

    async def stop(self) -> None:
        """Stop every process."""
        for uid in list(self._pods):
            self._forget(uid)
        await asyncio.gather(*self._stopping)

    def targets(self) -> list[Json]:
        """Return what Prometheus scrapes: the ready engines."""
        return [pod.target() for pod in self._pods.values() if pod.ready and pod.is_engine]

    def write_hosts(self) -> None:
        """Renew the names that the processes see."""
        for pod in self._pods.values():
            pod.write_hosts()

    def _sync(self, items: list[Json]) -> None:
        present = {item["metadata"]["uid"] for item in items}
        for uid in set(self._pods) - present:
            self._forget(uid)
        for item in items:
            self._one("MODIFIED", item)

    def _one(self, event: str, pod: Json) -> None:
        uid = pod["metadata"]["uid"]
        gone = event == "DELETED" or "deletionTimestamp" in pod["metadata"]
        if gone and uid in self._pods:
            self._forget(uid)
        elif not gone and uid not in self._pods and has_process(pod):
            self._pods[uid] = RunningPod(self._api, pod, workload(self._layout, self._api, pod, self._hosts))

    def _forget(self, uid: str) -> None:
        """Stop a pod's process beside other work: a program may take seconds to end."""
        task = asyncio.create_task(self._pods.pop(uid).stop())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)


def has_process(pod: Json) -> bool:
    """Say whether a pod has an address and an image that gets a real process."""
    status = pod.get("status", {})
    image = str(pod["spec"]["containers"][0]["image"])
    return status.get("phase") == "Running" and "podIP" in status and re.search(REAL_IMAGES, image) is not None


class RunningPod:
    """One pod with its workload, and the task that keeps it running and probed."""

    def __init__(self, api: Api, pod: Json, work: Workload) -> None:
        """Start the task at once."""
        self._api, self._pod, self._work = api, pod, work
        self.ready = False
        self._restarts = 0
        self._reported = (False, 0)
        self._task = asyncio.create_task(self._keep())

    @property
    def is_engine(self) -> bool:
        """Whether it is a model engine."""
        return "vllm" in self._pod["spec"]["containers"][0]["image"]

    def target(self) -> Json:
        """Return the pod as a target of Prometheus."""
        metadata, container = self._pod["metadata"], self._pod["spec"]["containers"][0]
        port = next((port["containerPort"] for port in container.get("ports", [])), 8000)
        address = f"{self._pod['status']['podIP']}:{port}"
        return prometheus.target(metadata["namespace"], metadata["name"], self._pod["spec"]["nodeName"], address)

    def write_hosts(self) -> None:
        """Renew the names that the process sees."""
        if isinstance(self._work, ProcessWorkload):
            self._work.write_hosts()

    async def stop(self) -> None:
        """Stop the task and the workload."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        await self._work.stop()

    async def _keep(self) -> None:
        while True:
            since = time.monotonic()
            try:
                await self._work.start()
            except NotYetError:
                await asyncio.sleep(WAIT_S)
                continue
            except (OSError, ApiError, SimError, aiohttp.ClientError) as error:
                print(f"pod {self._pod['metadata']['name']}: {error}", flush=True)  # noqa: T201 - the agent's log
            await self._probe_while_running()
            await self._report(ready=False)
            self._restarts += 1
            await asyncio.sleep(backoff_s(self._restarts - 1, time.monotonic() - since))

    async def _probe_while_running(self) -> None:
        container = self._pod["spec"]["containers"][0]
        startup = container.get("startupProbe") or container.get("readinessProbe")
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False)) as session:
            while self._work.running() and not await self._answers(session, startup):  # noqa: ASYNC110 - a probe
                await asyncio.sleep(STARTUP_POLL_S)
            while self._work.running():
                await self._report(ready=await self._answers(session, container.get("readinessProbe")))
                period_s = (container.get("readinessProbe") or {}).get("periodSeconds", DEFAULT_PERIOD_S)
                await self._sleep_while_running(period_s)

    async def _sleep_while_running(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._work.running() and time.monotonic() < deadline:  # noqa: ASYNC110 - of another process
            await asyncio.sleep(STARTUP_POLL_S)

    async def _answers(self, session: aiohttp.ClientSession, probe: Json | None) -> bool:
        get = (probe or {}).get("httpGet")
        if get is None:
            return self._work.running()
        url = probe_url(self._pod, get)
        timeout = aiohttp.ClientTimeout(total=(probe or {}).get("timeoutSeconds", 1))
        with suppress(aiohttp.ClientError, OSError, TimeoutError):
            async with session.get(url, timeout=timeout) as response:
                return response.status < 400  # noqa: PLR2004 - a probe's rule: 200 to 399 is success
        return False

    async def _report(self, *, ready: bool) -> None:
        if (ready, self._restarts) == self._reported:
            return
        if await report(self._api, self._pod, pod_status(self._pod, self._restarts, ready=ready)):
            self.ready, self._reported = ready, (ready, self._restarts)


def probe_url(pod: Json, get: Json) -> str:
    """Return the URL of an HTTP probe; a port may be given by its name."""
    container = pod["spec"]["containers"][0]
    named = {port.get("name"): port["containerPort"] for port in container.get("ports", [])}
    port = named.get(get["port"], get["port"])
    return f"{get.get('scheme', 'HTTP').lower()}://{pod['status']['podIP']}:{port}{get.get('path', '/')}"


def pod_status(pod: Json, restarts: int, *, ready: bool) -> Json:
    """Return the part of a pod's status that its readiness decides."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    containers = [
        {
            "name": container["name"], "image": container["image"], "imageID": "", "ready": ready, "started": ready,
            "restartCount": restarts, "state": {"running": {"startedAt": now}},
        }
        for container in pod["spec"]["containers"]
    ]  # fmt: skip
    return {
        "conditions": [condition(kind, ready=ready) for kind in ("Ready", "ContainersReady")],
        "containerStatuses": containers,
    }
