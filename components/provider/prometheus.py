"""
Asks Prometheus for the value of a query now.

Source of the form: Prometheus' documentation, "HTTP API", instant queries: `POST /api/v1/query` with `query`, answered
by `{"status": "success", "data": {"resultType": "vector", "result": [{"metric": {...}, "value": [time, "text"]}]}}`, or
by `{"status": "error", "errorType": ..., "error": ...}`; a scalar's result is `[time, "text"]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2

from coldaisle.waves.telemetry import Answer, Sample, query_for

if TYPE_CHECKING:
    from coldaisle.plan.model import TelemetryPlan

TIMEOUT_S = 15.0
PATH = "/api/v1/query"


async def ask(asked: TelemetryPlan, hosts: list[str]) -> Answer:
    """Return what a query gives now; where it gives nothing that can be read, why."""
    url = f"{asked.url.rstrip('/')}{PATH}"
    try:
        async with httpx2.AsyncClient(timeout=TIMEOUT_S, trust_env=False) as client:
            answer = await client.post(url, data={"query": query_for(asked, hosts)})
        body = answer.json()
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        return f"no answer of {url}: {type(error).__name__}: {error}"
    except ValueError:
        return f"{url} answered {answer.status_code} without JSON"
    return samples_of(body) if isinstance(body, dict) else f"{url} answered with no object"


def samples_of(body: dict[str, Any]) -> Answer:
    """Return the samples of an answer, or what Prometheus says of the query."""
    if body.get("status") != "success":
        return f"{body.get('errorType', 'error')}: {body.get('error', 'no reason was given')}"
    try:
        kind, result = body["data"]["resultType"], body["data"]["result"]
        if kind == "scalar":
            return [Sample({}, float(result[1]))]
        if kind != "vector":
            return f"the query gives a {kind}, and one value of each series is needed"
        return [Sample(dict(each["metric"]), float(each["value"][1])) for each in result]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return f"the answer is not of the documented form ({type(error).__name__}: {error})"
