"""Telemetry of a wave: what is asked, what a value means, and what Prometheus' answers are read as."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

import pytest

from coldaisle.plan.model import TelemetryPlan
from coldaisle.waves.telemetry import Sample, query_for, worse
from components.provider.prometheus import ask, samples_of

HOSTS = ["r01-n01", "r01-n02"]


def query(**limits: float) -> TelemetryPlan:
    """Return a query with limits."""
    text = 'sum by (Hostname) (xids{Hostname=~"$hosts"})'
    return TelemetryPlan(name="xids", url="http://p", query=text, max=limits.get("max"), min=limits.get("min"))


def test_a_query_names_the_hosts_of_the_wave() -> None:
    """As a regular expression; a dot of a name is a dot."""
    assert query_for(query(max=0), ["r01-n02", "r01-n01"]).endswith('{Hostname=~"r01-n01|r01-n02"})')
    assert 'n1\\\\.x"' in query_for(query(max=0), ["n1.x"])


def test_what_is_beyond_its_limit_has_regressed_from_what_it_was() -> None:
    """The text has both values, and the host is the one that a label names."""
    before = [Sample({"Hostname": "r01-n01"}, 0), Sample({"Hostname": "r01-n02"}, 0)]
    now = [Sample({"Hostname": "r01-n01"}, 0), Sample({"Hostname": "r01-n02"}, 3)]
    text = 'telemetry xids {Hostname="r01-n02"} was 0 before the wave and is 3, over 0'
    assert worse(query(max=0), before, now, HOSTS) == (text, ("r01-n02",))
    assert worse(query(max=3), before, now, HOSTS) == ("", ())
    low = worse(query(min=10), "silent", [Sample({"instance": "r01-n01.example:9400"}, 9.5)], HOSTS)
    assert low == ('telemetry xids {instance="r01-n01.example:9400"} is 9.5, under 10', ("r01-n01",))


def test_a_host_that_is_told_of_no_more_has_regressed() -> None:
    """Its exporter may be what the change broke; one whose series has other labels since is still told of."""
    before = [Sample({"Hostname": host, "pod": f"dcgm-{host}"}, 0) for host in HOSTS]
    text = "telemetry xids told of r01-n02 before the wave, and tells nothing now"
    assert worse(query(max=0), before, before[:1], HOSTS) == (text, ("r01-n02",))
    started_anew = [before[0], Sample({"Hostname": "r01-n02", "pod": "dcgm-x7k2p"}, 0)]
    assert worse(query(max=0), before, started_anew, HOSTS) == ("", ())
    assert worse(query(max=0), "silent", before[:1], HOSTS) == ("", ())


@pytest.mark.parametrize(
    ("now", "text"),
    [
        ("no answer", "could not be told: no answer"),
        ([], "gave no value (a sum over nothing needs 'or vector(0)')"),
        ([Sample({}, float("nan"))], "is no number"),
    ],
)
def test_no_value_is_no_good_news(now: object, text: str) -> None:
    """Silence, an empty answer and a NaN stop as a bad value does."""
    found, blamed = worse(query(max=0), [], now, HOSTS)  # type: ignore[arg-type]
    assert text in found
    assert blamed == ()


class Prometheus(BaseHTTPRequestHandler):
    """Answers as the documentation of Prometheus' HTTP API has it."""

    def do_POST(self) -> None:
        """Answer an instant query."""
        asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())["query"][0]
        good = {"resultType": "vector", "result": [{"metric": {"q": asked}, "value": [1435781451.781, "1"]}]}
        bad = {"status": "error", "errorType": "bad_data", "error": "parse error"}
        body = json.dumps(bad if "(" not in asked else {"status": "success", "data": good}).encode()
        self.send_response(200 if "(" in asked else 400)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    """Return the address of a server that answers."""
    with HTTPServer(("127.0.0.1", 0), Prometheus) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_prometheus_is_asked_by_its_api(url: str) -> None:
    """A vector's values are numbers in texts; what it says of a bad query is told, and a silent one as well."""
    asked = TelemetryPlan(name="x", url=url, query='sum(x{h=~"$hosts"})', max=0, min=None)
    assert asyncio.run(ask(asked, ["a"])) == [Sample({"q": 'sum(x{h=~"a"})'}, 1.0)]
    broken = TelemetryPlan(name="x", url=url, query="x", max=0, min=None)
    assert asyncio.run(ask(broken, [])) == "bad_data: parse error"
    silent = TelemetryPlan(name="x", url="http://127.0.0.1:1", query="x", max=0, min=None)
    assert str(asyncio.run(ask(silent, []))).startswith("no answer of http://127.0.0.1:1/api/v1/query: ConnectError")


def test_other_forms_of_an_answer_are_told() -> None:
    """A scalar is one value; a matrix has too many, and a form that is not documented is none."""
    assert samples_of({"status": "success", "data": {"resultType": "scalar", "result": [1, "2.5"]}}) == [
        Sample({}, 2.5)
    ]
    matrix = samples_of({"status": "success", "data": {"resultType": "matrix", "result": []}})
    assert matrix == "the query gives a matrix, and one value of each series is needed"
    assert "not of the documented form" in str(samples_of({"status": "success", "data": {"resultType": "vector"}}))
