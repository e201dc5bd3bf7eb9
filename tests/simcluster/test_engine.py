"""The stand-in engine: command lines, admission, API and metrics."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer

from sim.cluster.engine import Engine, EngineSettings, Metrics, Request, Scheduler, settings_from_arguments

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

FAST = EngineSettings(model="m", decode_tokens_per_s=5000, load_s=0, kv_cache_tokens=100)


@pytest.mark.parametrize(
    ("words", "model", "port"),
    [
        (["--model=m/x", "--port=9000"], "m/x", 9000),
        (["--model", "m/x", "--port", "9000"], "m/x", 9000),
        (["vllm", "serve", "m/x", "--max-num-seqs", "8"], "m/x", 8000),
        (["--model=m/x", "--served-model-name=short"], "short", 8000),
    ],
)
def test_command_line(words: list[str], model: str, port: int) -> None:
    """Both forms of vLLM's command line give the model's name and the port."""
    settings = settings_from_arguments(words, seed="p")
    assert (settings.model, settings.port) == (model, port)


def test_admission_is_bounded_by_the_cache() -> None:
    """A request waits while the key-value cache is taken, and runs when it is free again."""

    async def scenario() -> list[float]:
        metrics = Metrics("m")
        scheduler = Scheduler(FAST, metrics)
        big = Request(prompt_tokens=10, output_tokens=70)
        seen = []
        async with scheduler.slot(big):
            second = asyncio.create_task(_hold(scheduler, big))
            await asyncio.sleep(0)
            seen.append(_value(metrics, "vllm:num_requests_waiting"))
        await second
        seen.append(_value(metrics, "vllm:num_requests_waiting"))
        return seen

    assert asyncio.run(scenario()) == [1.0, 0.0]


def test_a_waiting_request_that_is_given_up_leaves_the_queue() -> None:
    """A client that goes away while it waits no longer counts as waiting, and takes nothing from the next one."""

    async def scenario() -> tuple[float, float]:
        metrics = Metrics("m")
        scheduler = Scheduler(FAST, metrics)
        big = Request(prompt_tokens=10, output_tokens=70)
        async with scheduler.slot(big):
            waiting = asyncio.create_task(_hold(scheduler, big))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            left = _value(metrics, "vllm:num_requests_waiting")
        return left, _value(metrics, "vllm:num_requests_running")

    assert asyncio.run(scenario()) == (0.0, 0.0)


def test_more_than_the_context_is_refused() -> None:
    """A request that does not fit the model's context is answered with 400, as the real engine does."""
    answer = _with_client(lambda client: _post(client, "/v1/completions", {"prompt": "a", "max_tokens": 9000}))
    assert answer[0] == 400
    assert "maximum context length is 8192" in answer[1]["error"]["message"]


def test_an_unknown_model_is_not_found() -> None:
    """A request for another model is answered with 404."""
    answer = _with_client(lambda client: _post(client, "/v1/completions", {"prompt": "a", "model": "other"}))
    assert answer[0] == 404


def test_chat_counts_its_tokens() -> None:
    """A chat completion says how many tokens it read and wrote, and the metrics agree."""

    async def scenario(client: TestClient[Any, Any]) -> tuple[dict[str, Any], str]:
        body = {"messages": [{"role": "user", "content": "three short words"}], "max_tokens": 5}
        _, answer = await _post(client, "/v1/chat/completions", body)
        return answer, await (await client.get("/metrics")).text()

    answer, metrics = _with_client(scenario)
    assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    assert len(answer["choices"][0]["message"]["content"].split()) == 5
    assert 'vllm:generation_tokens_total{engine="0",model_name="m"} 5.0' in metrics
    assert 'vllm:time_to_first_token_seconds_count{engine="0",model_name="m"} 1.0' in metrics


def test_a_stream_ends_with_done() -> None:
    """A streamed answer comes in events, the last of which says that it is done."""

    async def scenario(client: TestClient[Any, Any]) -> str:
        response = await client.post("/v1/completions", json={"prompt": "a", "max_tokens": 3, "stream": True})
        return await response.text()

    text = _with_client(scenario)
    assert text.startswith("data: {")
    assert text.endswith("data: [DONE]\n\n")


def test_health_waits_for_the_model() -> None:
    """The engine is unhealthy while it loads its model, so that a start-up probe waits."""

    async def scenario(client: TestClient[Any, Any]) -> int:
        return (await client.get("/health")).status

    loading = EngineSettings(model="m", load_s=60)
    assert (_with_client(scenario), _with_client(scenario, loading)) == (200, 503)


async def _hold(scheduler: Scheduler, request: Request) -> None:
    async with scheduler.slot(request):
        await asyncio.sleep(0)


def _value(metrics: Metrics, name: str) -> float:
    value = metrics.registry.get_sample_value(name, {"model_name": "m", "engine": "0"})
    assert value is not None
    return value


async def _post(client: TestClient[Any, Any], path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    response: aiohttp.ClientResponse = await client.post(path, json=body)
    return response.status, await response.json()


def _with_client(scenario: Callable[[TestClient[Any, Any]], Awaitable[T]], settings: EngineSettings = FAST) -> T:
    async def run() -> T:
        async with TestClient(TestServer(Engine(settings).application())) as client:
            return await scenario(client)

    return asyncio.run(run())
