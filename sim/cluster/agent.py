"""
The simulated site's own helper process in the cluster's namespace.

It serves the chart mirror and Prometheus' targets, runs the real process of pods that have one, and stands in for the
operators' controllers. One process: most of its memory is Python itself.

Usage: python -m sim.cluster.agent FOLDER, where FOLDER holds layout.json.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from sim.cluster import charts, operators
from sim.cluster.addresses import Addresses
from sim.cluster.api import Api
from sim.cluster.kubelets import Kubelets
from sim.cluster.layout import read_layout
from sim.cluster.names import Names
from sim.cluster.prometheus import TARGETS_PATH
from sim.cluster.runner import Runner
from sim.cluster.tools import keda_definitions

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.cluster.layout import Layout

STOP_S = 5.0
"""How long the pods' processes may take at the end; what is left then dies with this process."""


def mirror(
    packaged: Callable[[], list[charts.Chart]], targets: Callable[[], list[dict[str, object]]]
) -> web.Application:
    """
    Return the HTTP application of the chart mirror and of Prometheus' discovery.

    Charts are packaged when they are asked for: KEDA is built last, when the rest of the site has long been up.
    """

    async def serve(request: web.Request) -> web.Response:
        if request.path == TARGETS_PATH:
            return web.json_response(targets())
        content = dict(charts.files(packaged())).get(request.path)
        if content is None:
            return web.Response(status=404, text=f"no {request.path} here; /index.yaml lists the charts\n")
        return web.Response(body=content, content_type="application/octet-stream")

    application = web.Application()
    application.router.add_get("/{path:.*}", serve)
    return application


async def follow_pods(api: Api, *followers: Addresses | Runner | Kubelets) -> None:
    """Hand every event of the cluster's pods to each follower, in order, for ever."""
    async for event, found in api.watch("/api/v1/pods"):
        for follower in followers:
            await follower.handle(event, found)


async def run(layout: Layout) -> None:
    """Do everything until a signal comes."""
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with Api(layout.kubeconfigs / "agent.json") as api:
        names = Names(api)
        runner = Runner(layout, api, names.text)
        names.changed = runner.write_hosts
        application = mirror(lambda: charts.all_charts(keda_definitions()), runner.targets)
        server = web.AppRunner(application, access_log=None)
        await server.setup()
        await web.TCPSite(server, layout.api_address, layout.mirror_port).start()
        kubelets = Kubelets(api)
        pods = follow_pods(api, Addresses(api, layout.pod_cidr), runner, kubelets)
        tasks = [asyncio.create_task(work) for work in (names.run(), pods, kubelets.run(), operators.run(api))]
        ending = asyncio.create_task(stopped.wait())
        done, _ = await asyncio.wait([ending, *tasks], return_when=asyncio.FIRST_COMPLETED)
        with suppress(TimeoutError):
            await asyncio.wait_for(runner.stop(), STOP_S)
        for task in done - {ending}:
            task.result()


if __name__ == "__main__":
    asyncio.run(run(read_layout(Path(sys.argv[1]))))
