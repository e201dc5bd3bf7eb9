"""
What runs for a pod with a known image: the stand-in engine in this process, or the real program of KEDA beside it.

A workload starts, says whether it still runs, and stops; when and how often is the runner's business.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from aiohttp import web

from sim.cluster.engine import Engine, settings_from_arguments
from sim.cluster.tools import find_tool
from sim.cluster.volumes import environment, write_volumes

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.cluster.api import Api
    from sim.cluster.layout import Layout

Json = dict[str, Any]
STOP_S = 10.0
DRAIN_S = 20.0
"""How long the requests of an engine that stops may still run."""


class Workload(Protocol):
    """A running container."""

    async def start(self) -> None:
        """Start it. NotYetError when something that it needs is missing."""

    def running(self) -> bool:
        """Say whether it runs."""

    async def stop(self) -> None:
        """Stop it, if it runs."""


class EngineWorkload:
    """A replica of the stand-in engine, listening at the pod's address."""

    def __init__(self, pod: Json, container: Json) -> None:
        """Read the container's command line; nothing listens yet."""
        words = [*container.get("command", []), *container.get("args", [])]
        self._settings = settings_from_arguments(words, seed=pod["metadata"]["name"])
        self._address = pod["status"]["podIP"]
        self._server: web.AppRunner | None = None

    async def start(self) -> None:
        """Listen at the pod's address."""
        application = Engine(self._settings).application()
        # A request whose client went away leaves the batch, as in the real engine.
        self._server = web.AppRunner(application, access_log=None, shutdown_timeout=DRAIN_S, handler_cancellation=True)
        await self._server.setup()
        await web.TCPSite(self._server, self._address, self._settings.port).start()

    def running(self) -> bool:
        """Say whether it listens."""
        return self._server is not None

    async def stop(self) -> None:
        """Stop listening."""
        if self._server is not None:
            await self._server.cleanup()
            self._server = None


class ProcessWorkload:
    """A real program with the pod's volumes as its root, its service account and its environment."""

    def __init__(self, layout: Layout, api: Api, pod: Json, container: Json, hosts: Callable[[], str]) -> None:
        """Keep what is needed to start; `hosts` gives the text of /etc/hosts, which stands in for the cluster's DNS."""
        self._layout, self._api, self._pod, self._container, self._hosts = layout, api, pod, container, hosts
        self.root = layout.pods / pod["metadata"]["uid"] / "root"
        self._pid_file = layout.run / f"pod-{pod['metadata']['name']}.pid"
        self._log = layout.logs / f"pod-{pod['metadata']['name']}.log"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Write the volumes and start the program."""
        await write_volumes(self._api, self._pod, self._container, self.root)
        self.write_hosts()
        name, extra = program(self._container["image"], self._pod["status"]["podIP"])
        words = [*self._container.get("args", []), *extra]
        launcher = [sys.executable, "-S", str(Path(__file__).with_name("launch.py")), str(self.root), find_tool(name)]
        own = environment(self._pod, self._container, self._layout.api_address, self._layout.api_port)
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                "setpriv", "--pdeathsig", "TERM", *launcher, *words, stdout=log, stderr=log, env={**own}
            )  # fmt: skip
        self._pid_file.write_text(f"{self._process.pid}\n")

    def write_hosts(self) -> None:
        """Write the names of Services and their pods' addresses, where they changed."""
        path, text = self.root / "etc" / "hosts", self._hosts()
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)

    def running(self) -> bool:
        """Say whether the program runs."""
        return self._process is not None and self._process.returncode is None

    async def stop(self) -> None:
        """Ask the program to end, and end it when it does not; its secrets go with it."""
        self._pid_file.unlink(missing_ok=True)
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), STOP_S)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
        shutil.rmtree(self.root.parent, ignore_errors=True)


def program(image: str, address: str) -> tuple[str, list[str]]:
    """
    Return the program of an image and the arguments that bind it to the pod's address.

    Pods share one network namespace here, so "every address" of two pods would collide.
    """
    if re.search(r"keda-metrics-apiserver[:@]", image):
        return "keda-adapter", [f"--bind-address={address}", "--port=18080"]
    return "keda-operator", [
        f"--metrics-bind-address={address}:8080",
        f"--health-probe-bind-address={address}:8081",
        f"--metrics-service-bind-address={address}:9666",
    ]


def workload(layout: Layout, api: Api, pod: Json, hosts: Callable[[], str]) -> Workload:
    """Return the workload of a pod with a known image: of its first container."""
    container = pod["spec"]["containers"][0]
    if "vllm" in container["image"]:
        return EngineWorkload(pod, container)
    return ProcessWorkload(layout, api, pod, container, hosts)
