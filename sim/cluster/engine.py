"""
A stand-in for vLLM: the OpenAI API and the engine's real metric names, with simulated timing instead of a model.

It admits requests in order while sequences and key-value cache are free, spends the time that prefill and decoding
would take, and streams words. So the queue that an autoscaler looks at grows and shrinks as a real engine's does.
Metric names: vLLM's `vllm/v1/metrics/loggers.py` (names after v0.25, which removed the `gpu_cache_usage` ones).
"""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

DEFAULT_PORT = 8000
DEFAULT_MAX_TOKENS = 16
WORDS = ("aisle", "rack", "rail", "leaf", "spine", "watt", "feed", "node", "token", "queue", "cold", "hot")
TTFT_BUCKETS_S = (
    0.001,
    0.005,
    0.01,
    0.02,
    0.04,
    0.06,
    0.08,
    0.1,
    0.25,
    0.5,
    0.75,
    1.0,
    2.5,
    5.0,
    7.5,
    10.0,
    20.0,
    40.0,
)
ITL_BUCKETS_S = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)
E2E_BUCKETS_S = (0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """
    How fast the simulated engine is, and what it serves.

    The rates are a small GPU's, so that a few requests a second fill one replica: `kv_cache_tokens` bounds how many
    sequences fit at once, as it does on a real GPU. `seed` makes the jitter of a pod repeatable.
    """

    model: str
    port: int = DEFAULT_PORT
    max_num_seqs: int = 256
    max_model_len: int = 8192
    decode_tokens_per_s: float = 50.0
    prefill_tokens_per_s: float = 4000.0
    kv_cache_tokens: int = 4096
    load_s: float = 1.0
    seed: str = "engine"


def settings_from_arguments(words: Sequence[str], seed: str) -> EngineSettings:
    """
    Return the settings that a container's command line asks for.

    Both forms of vLLM are read: `vllm serve MODEL --flag value` and `--model MODEL --flag=value`.
    """
    flags = _flags(words)
    model = flags.get("served-model-name") or flags.get("model") or _positional_model(words)
    return EngineSettings(
        model=model or "unknown",
        port=int(flags.get("port", DEFAULT_PORT)),
        max_num_seqs=int(flags.get("max-num-seqs", 256)),
        max_model_len=int(flags.get("max-model-len", 8192)),
        seed=seed,
    )


def _flags(words: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            found[name.replace("_", "-")] = value if equals else following
    return found


def _positional_model(words: Sequence[str]) -> str | None:
    following = dict(pairwise(words))
    candidate = following.get("serve")
    return candidate if candidate and not candidate.startswith("-") else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request: its sizes in tokens."""

    prompt_tokens: int
    output_tokens: int

    @property
    def tokens(self) -> int:
        """The key-value cache that it needs at its end."""
        return self.prompt_tokens + self.output_tokens


class Metrics:
    """The engine's metrics, under the engine's names."""

    def __init__(self, model: str) -> None:
        """Register every metric with the labels that vLLM gives them."""
        self.registry = CollectorRegistry()
        self._labels = {"model_name": model, "engine": "0"}
        self.running = self._gauge("vllm:num_requests_running", "Number of requests in model execution batches.")
        self.waiting = self._gauge("vllm:num_requests_waiting", "Number of requests waiting to be processed.")
        self.cache = self._gauge("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.")
        self.prompt = self._counter("vllm:prompt_tokens", "Number of prefill tokens processed.")
        self.generated = self._counter("vllm:generation_tokens", "Number of generation tokens processed.")
        self.preempted = self._counter("vllm:num_preemptions", "Cumulative number of preemption from the engine.")
        self.ttft = self._histogram("vllm:time_to_first_token_seconds", "Time to first token.", TTFT_BUCKETS_S)
        self.itl = self._histogram("vllm:inter_token_latency_seconds", "Inter-token latency.", ITL_BUCKETS_S)
        self.e2e = self._histogram("vllm:e2e_request_latency_seconds", "End to end latency.", E2E_BUCKETS_S)
        self.queued = self._histogram("vllm:request_queue_time_seconds", "Time in the WAITING phase.", E2E_BUCKETS_S)
        success = Counter(
            "vllm:request_success", "Finished requests.", [*self._labels, "finished_reason"], registry=self.registry
        )
        self.finished = success.labels(**self._labels, finished_reason="length")

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(name, text, list(self._labels), registry=self.registry).labels(**self._labels)

    def _counter(self, name: str, text: str) -> Counter:
        return Counter(name, text, list(self._labels), registry=self.registry).labels(**self._labels)

    def _histogram(self, name: str, text: str, buckets: Sequence[float]) -> Histogram:
        made = Histogram(name, text, list(self._labels), buckets=buckets, registry=self.registry)
        return made.labels(**self._labels)


class Scheduler:
    """First come, first served: a request runs when a sequence and its key-value cache are free."""

    def __init__(self, settings: EngineSettings, metrics: Metrics) -> None:
        """Start with everything free."""
        self._settings = settings
        self._metrics = metrics
        self._queue: deque[tuple[Request, asyncio.Future[None]]] = deque()
        self._running = 0
        self._cached_tokens = 0

    @asynccontextmanager
    async def slot(self, request: Request) -> AsyncIterator[None]:
        """Hold a sequence and cache for a request; wait for them first."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (request, turn)
        self._queue.append(entry)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release(request)
            elif entry in self._queue:
                self._queue.remove(entry)
            self._admit()
            raise
        try:
            yield
        finally:
            self._release(request)
            self._admit()

    def _admit(self) -> None:
        while self._queue and self._fits(self._queue[0][0]):
            request, turn = self._queue.popleft()
            if not turn.done():
                self._running += 1
                self._cached_tokens += request.tokens
                turn.set_result(None)
        self._report()

    def _fits(self, request: Request) -> bool:
        if self._running == 0:
            return True
        cache = self._cached_tokens + request.tokens <= self._settings.kv_cache_tokens
        return cache and self._running < self._settings.max_num_seqs

    def _release(self, request: Request) -> None:
        self._running -= 1
        self._cached_tokens -= request.tokens

    def _report(self) -> None:
        self._metrics.running.set(self._running)
        self._metrics.waiting.set(len(self._queue))
        self._metrics.cache.set(min(1.0, self._cached_tokens / self._settings.kv_cache_tokens))


class Engine:
    """One replica: its settings, metrics, queue and HTTP application."""

    def __init__(self, settings: EngineSettings) -> None:
        """Make the application; nothing listens yet, and /health says no until the model is loaded."""
        self.settings = settings
        self.metrics = Metrics(settings.model)
        self.scheduler = Scheduler(settings, self.metrics)
        self._random = random.Random(settings.seed)  # noqa: S311 - jitter, not a secret
        self._loaded_at = time.monotonic() + settings.load_s

    def application(self) -> web.Application:
        """Return the HTTP application with vLLM's routes."""
        made = web.Application()
        made.add_routes(
            [
                web.get("/health", self._health),
                web.get("/metrics", self._metrics_text),
                web.get("/v1/models", self._models),
                web.post("/v1/completions", self._completions),
                web.post("/v1/chat/completions", self._chat),
            ]
        )
        return made

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response(status=200 if time.monotonic() >= self._loaded_at else 503)

    async def _metrics_text(self, _: web.Request) -> web.Response:
        return web.Response(body=generate_latest(self.metrics.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _models(self, _: web.Request) -> web.Response:
        model = {"id": self.settings.model, "object": "model", "owned_by": "vllm"}
        return web.json_response({"object": "list", "data": [{**model, "max_model_len": self.settings.max_model_len}]})

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        body = await _body(request)
        return await self._answer(request, body, str(body.get("prompt", "")), chat=False)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await _body(request)
        prompt = " ".join(str(message.get("content", "")) for message in body.get("messages", []))
        return await self._answer(request, body, prompt, chat=True)

    async def _answer(
        self, request: web.Request, body: dict[str, Any], prompt: str, *, chat: bool
    ) -> web.StreamResponse:
        asked = body.get("max_completion_tokens") or body.get("max_tokens") or DEFAULT_MAX_TOKENS
        sizes = Request(prompt_tokens=max(1, len(prompt.split())), output_tokens=int(asked))
        problem = self._problem(body, sizes)
        if problem is not None:
            return problem
        answer = Answer(model=self.settings.model, sizes=sizes, chat=chat)
        if not body.get("stream"):
            words = [word async for word in self._generate(sizes)]
            return web.json_response(answer.whole(" ".join(words)))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        async for word in self._generate(sizes):
            await response.write(_event(answer.chunk(f"{word} ", finish=None)))
        await response.write(_event(answer.chunk("", finish="length")) + b"data: [DONE]\n\n")
        return response

    def _problem(self, body: dict[str, Any], sizes: Request) -> web.Response | None:
        if body.get("model") not in {None, self.settings.model}:
            return _error(404, f"The model `{body['model']}` does not exist.")
        if sizes.output_tokens < 1 or sizes.tokens > self.settings.max_model_len:
            limit = self.settings.max_model_len
            return _error(400, f"This model's maximum context length is {limit} tokens, have {sizes.tokens}.")
        return None

    async def _generate(self, sizes: Request) -> AsyncIterator[str]:
        arrived = time.monotonic()
        async with self.scheduler.slot(sizes):
            self.metrics.queued.observe(time.monotonic() - arrived)
            await asyncio.sleep(sizes.prompt_tokens / self.settings.prefill_tokens_per_s)
            self.metrics.prompt.inc(sizes.prompt_tokens)
            self.metrics.ttft.observe(time.monotonic() - arrived)
            async for word in self._decode(sizes.output_tokens):
                yield word
        self.metrics.finished.inc()
        self.metrics.e2e.observe(time.monotonic() - arrived)

    async def _decode(self, tokens: int) -> AsyncIterator[str]:
        """Yield words in steps of a tenth of a second: a timer a token would cost more than it shows."""
        rate = self.settings.decode_tokens_per_s * self._random.uniform(0.9, 1.1)
        step = max(1, round(rate / 10))
        for start in range(0, tokens, step):
            count = min(step, tokens - start)
            await asyncio.sleep(count / rate)
            self.metrics.generated.inc(count)
            self.metrics.itl.observe(1 / rate)
            yield " ".join(self._random.choice(WORDS) for _ in range(count))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The JSON of one answer, whole or in chunks, of either API."""

    model: str
    sizes: Request
    chat: bool

    def whole(self, text: str) -> dict[str, Any]:
        """Return the answer in one piece, with its usage."""
        content = {"message": {"role": "assistant", "content": text}} if self.chat else {"text": text}
        usage = {
            "prompt_tokens": self.sizes.prompt_tokens,
            "completion_tokens": self.sizes.output_tokens,
            "total_tokens": self.sizes.tokens,
        }
        kind = "chat.completion" if self.chat else "text_completion"
        return {**self._head(kind), "choices": [{"index": 0, **content, "finish_reason": "length"}], "usage": usage}

    def chunk(self, text: str, *, finish: str | None) -> dict[str, Any]:
        """Return one piece of a stream."""
        content = {"delta": {"content": text}} if self.chat else {"text": text}
        kind = "chat.completion.chunk" if self.chat else "text_completion"
        return {**self._head(kind), "choices": [{"index": 0, **content, "finish_reason": finish}]}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": f"cmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": self.model}


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        return dict(await request.json())
    except ValueError as error:
        raise web.HTTPBadRequest(text=f"the body is not JSON: {error}") from error


def _error(status: int, message: str) -> web.Response:
    record = {"message": message, "type": "BadRequestError", "code": status}
    return web.json_response({"error": record}, status=status)


def _event(record: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(record)}\n\n".encode()
