"""Waves that ask the site's own Prometheus: the real program scrapes what hosts export, and answers."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coldaisle.plan.model import TelemetryPlan
from coldaisle.waves.telemetry import Sample
from components.provider.prometheus import ask
from sim.shell import environment
from tests.programs import required
from tests.provider.test_rollout import set_up, stopped

if TYPE_CHECKING:
    from tests.provider.conftest import Engine, Floor

SCRAPE_S, SOAK_S = 1, 3
"""A soak is longer than two scrapes: what a change breaks is seen at its end."""

READY_S = 30.0
XID = 79
"""NVIDIA's number of a GPU that has fallen off the bus."""

PER_HOST = 'max by (Hostname) (DCGM_FI_DEV_XID_ERRORS{Hostname=~"$hosts"})'


@dataclass
class Exporter:
    """
    What hosts export: the last Xid of each.

    Once a play has run on them, that of `bad` ones is 79, and the exporters of `mute` ones are gone.
    """

    floor: Floor | None = None
    bad: frozenset[str] = frozenset()
    mute: frozenset[str] = frozenset()
    more: dict[str, int] = field(default_factory=dict)

    def text(self) -> str:
        """Return the metrics in Prometheus' text format."""
        runs = {name: self.floor.runs(name) for name in self.floor.names} if self.floor else {}
        changed = {name for name, count in runs.items() if count}
        xids = {name: XID if name in self.bad & changed else 0 for name in runs.keys() - (self.mute & changed)}
        lines = [f'DCGM_FI_DEV_XID_ERRORS{{Hostname="{name}"}} {xid}' for name, xid in (xids | self.more).items()]
        return "\n".join(["# TYPE DCGM_FI_DEV_XID_ERRORS gauge", *lines, ""])


@dataclass(frozen=True)
class Telemetry:
    """A Prometheus that runs, and what it scrapes."""

    url: str
    exporter: Exporter

    def plan(self, query: str, limit: float = 0) -> TelemetryPlan:
        """Return a query that may give so much."""
        return TelemetryPlan(name="xids", url=self.url, query=query, max=limit, min=None)

    def ask(self, query: str, *hosts: str) -> list[Sample] | str:
        """Return what a query gives now."""
        found = asyncio.run(ask(self.plan(query), list(hosts)))
        return found if isinstance(found, str) else list(found)

    def wait(self, query: str, value: float) -> None:
        """Wait until every series of a query has a value, and there is one."""
        deadline = time.monotonic() + READY_S
        while not (found := self.ask(query)) or {getattr(it, "value", None) for it in found} != {value}:
            assert time.monotonic() < deadline, found
            time.sleep(0.1)


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[str]:
    """Run a Prometheus that scrapes one target, and give its address."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{found.getsockname()[1]}"
    scrapes = [{"job_name": "dcgm", "static_configs": [{"targets": [target]}]}]
    config = {"global": {"scrape_interval": f"{SCRAPE_S}s", "scrape_timeout": "1s"}, "scrape_configs": scrapes}
    (folder / "prometheus.yaml").write_text(json.dumps(config))
    words = [f"--config.file={folder / 'prometheus.yaml'}", f"--storage.tsdb.path={folder / 'data'}"]
    program = required("prometheus", environment()["PATH"])
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen([program, *words, f"--web.listen-address={address}"], stdout=log, stderr=log)
    try:
        yield f"http://{address}"
    finally:
        running.terminate()
        running.wait(timeout=READY_S)


@pytest.fixture(scope="module")
def telemetry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Telemetry]:
    """Return a Prometheus that scrapes an exporter each second."""
    exporter = Exporter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(exporter.text().encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        folder = tmp_path_factory.mktemp("prometheus")
        with prometheus(folder, f"127.0.0.1:{server.server_port}") as url:
            found = Telemetry(url, exporter)
            found.wait("up", 1)
            yield found
        server.shutdown()


def test_a_wave_stops_on_what_prometheus_tells_of_its_hosts(floor: Floor, engine: Engine, telemetry: Telemetry) -> None:
    """The canary passes; of the next two hosts one has lost its exporter and one a GPU; the last one is not touched."""
    exporter = telemetry.exporter
    exporter.floor, exporter.mute, exporter.bad = floor, frozenset({"h2"}), frozenset({"h3"})
    telemetry.wait('count(DCGM_FI_DEV_XID_ERRORS{Hostname=~"h.*"} == 0)', 4)
    outputs, inputs = set_up(floor, telemetry=(telemetry.plan(PER_HOST),), canary_soak_s=SOAK_S, soak_s=SOAK_S)
    error = stopped(engine, outputs, inputs)
    gpu = 'telemetry xids {Hostname="h3"} was 0 before the wave and is 79, over 0'
    said = f"{gpu}; telemetry xids told of h2 before the wave, and tells nothing now"
    assert error.reasons == [
        f"h2: failed: regression: {said}",
        f"h3: failed: regression: {said}",
        f"h4: not started: regression on h2, h3: {said}",
    ]
    assert [floor.runs(name) for name in floor.names] == [1, 1, 1, 0]
    assert {name: error.outputs["hosts"][name] for name in ("h1", "h4")} == {
        "h1": inputs["hosts"]["h1"],
        "h4": outputs["hosts"]["h4"],
    }


def test_what_prometheus_itself_says_of_queries(telemetry: Telemetry) -> None:
    """Names with dots are no patterns, a sum over nothing needs a zero, and a query that is none is told as it says."""
    telemetry.exporter.more = {"n1.a": 13, "n1xa": 48}
    telemetry.wait('DCGM_FI_DEV_XID_ERRORS{Hostname="n1xa"}', 48)
    assert telemetry.ask(PER_HOST, "n1.a", "r01-n07") == [Sample({"Hostname": "n1.a"}, 13)]
    assert telemetry.ask(PER_HOST, "r01-n07") == []
    assert telemetry.ask(f"sum({PER_HOST}) or vector(0)", "r01-n07") == [Sample({}, 0)]
    assert telemetry.ask("scalar(vector(2.5))") == [Sample({}, 2.5)]
    assert telemetry.ask("up[1m]") == "the query gives a matrix, and one value of each series is needed"
    assert "parse error" in telemetry.ask("sum(")
    telemetry.exporter.more = {}  # an exporter that is gone is told at its next scrape, not when its last value is old
    telemetry.wait('absent(DCGM_FI_DEV_XID_ERRORS{Hostname="n1.a"})', 1)
    assert telemetry.ask(PER_HOST, "n1.a") == []
