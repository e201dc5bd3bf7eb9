"""
The provider as a gRPC server, with the engine's protocol spoken directly.

The SDK has a servicer for providers. It lacks a word for a resource that is there but incomplete, shows a traceback of
every error, and takes three times the CPU for each value. All that a provider of one resource needs is here instead.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NoReturn

import grpc  # type: ignore[import-untyped]
import grpc.aio  # type: ignore[import-untyped]
from google.protobuf import any_pb2, empty_pb2  # type: ignore[import-untyped]
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    plugin_pb2,
    provider_pb2,
    provider_pb2_grpc,
    status_pb2,
)

from components.provider import changes
from components.provider.importing import Stack
from components.provider.plays import InitFailedError, PlayError, Plays
from components.provider.run import RunError
from components.provider.site import SiteProblemError
from components.provider.values import SecretValueError, engine_map, plain_map

if TYPE_CHECKING:
    from collections.abc import Awaitable

VERSION = "0.1.0"

_KINDS = {
    changes.ADD: provider_pb2.PropertyDiff.ADD,
    changes.DELETE: provider_pb2.PropertyDiff.DELETE,
    changes.UPDATE: provider_pb2.PropertyDiff.UPDATE,
}

_SECRET = "a Play takes no secret values: they would go into the state; name where they are read from instead"  # noqa: S105


class PlayServicer(provider_pb2_grpc.ResourceProviderServicer):
    """Answers the engine. Names of methods and messages are the protocol's."""

    def __init__(self, plays: Plays) -> None:
        """Answer by `plays`."""
        self._plays = plays

    async def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Say the version."""
        return plugin_pb2.PluginInfo(version=VERSION)

    async def CheckConfig(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Take the provider's configuration as it is: it has none of its own."""
        return provider_pb2.CheckResponse(inputs=request.news)

    async def DiffConfig(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Find no difference, as there is nothing to configure."""
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    async def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Take what the stack says of its site; ask for secrets to be marked, so that they can be refused."""
        given = plain_map(request.args)
        self._plays.configure(Stack(str(given.get("site") or ""), str(given.get("onDelete") or "undo")))
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    async def Check(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Report every problem of the inputs."""
        try:
            found = self._plays.check(plain_map(request.news))
        except SecretValueError:
            found = [("hosts", _SECRET)]
        failures = [provider_pb2.CheckFailure(property=name, reason=reason) for name, reason in found]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    async def Diff(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Name each difference by its path."""
        found = self._plays.diff(plain_map(request.olds), plain_map(request.news))
        response = provider_pb2.DiffResponse
        return response(
            changes=response.DIFF_SOME if found else response.DIFF_NONE,
            diffs=sorted({path.split("[")[0] for path in found}),
            detailedDiff={path: provider_pb2.PropertyDiff(kind=_KINDS[kind]) for path, kind in found.items()},
            hasDetailedDiff=True,
        )

    async def Create(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401
        """Create, or say which hosts are missing."""
        if request.preview:
            self._plays.preview(request.urn, None, plain_map(request.properties))
            return provider_pb2.CreateResponse(properties=request.properties)
        made = self._plays.create(request.urn, plain_map(request.properties), request.timeout)
        resource_id, outputs = await _answered(made, context)
        return provider_pb2.CreateResponse(id=resource_id, properties=engine_map(outputs))

    async def Update(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401
        """Update, or say which hosts are missing."""
        old, new = plain_map(request.olds), plain_map(request.news)
        if request.preview:
            self._plays.preview(request.urn, old, new)
            return provider_pb2.UpdateResponse(properties=request.news)
        made = self._plays.update(request.urn, request.id, old, new, request.timeout)
        return provider_pb2.UpdateResponse(properties=engine_map(await _answered(made, context)))

    async def Read(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401
        """Read, or say which hosts did not answer."""
        old, inputs = plain_map(request.properties), plain_map(request.inputs)
        if not inputs:  # an import: the engine knows the name only
            wanted, found = await _answered(self._plays.imported(request.urn, request.id), context)
            return provider_pb2.ReadResponse(id=request.id, properties=engine_map(found), inputs=engine_map(wanted))
        seen = await _answered(self._plays.read(request.urn, request.id, old, inputs), context)
        return provider_pb2.ReadResponse(id=request.id, properties=engine_map(seen), inputs=request.inputs)

    async def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401
        """Delete, or refuse."""
        await _answered(self._plays.delete(request.urn, plain_map(request.properties), request.timeout), context)
        return empty_pb2.Empty()

    async def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Ask what is running to stop."""
        self._plays.cancel()
        return empty_pb2.Empty()


async def _answered(answer: Awaitable[Any], context: Any) -> Any:  # noqa: ANN401
    """Wait for an answer; turn our own errors into the protocol's, without a traceback."""
    try:
        return await answer
    except InitFailedError as error:
        await context.abort_with_status(init_failed_status(error))
    except (PlayError, RunError, SiteProblemError) as error:
        await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))


def init_failed_status(error: InitFailedError) -> grpc.Status:
    """Pack a partial failure as the engine expects it: a detail of the status in the trailing metadata."""
    detail = provider_pb2.ErrorResourceInitFailed(
        id=error.resource_id,
        properties=engine_map(error.outputs),
        reasons=error.reasons,
        inputs=engine_map(error.inputs),
    )
    packed = any_pb2.Any()
    packed.Pack(detail)
    code = grpc.StatusCode.UNKNOWN
    full = status_pb2.Status(code=code.value[0], message=str(error), details=[packed])
    status = grpc.Status()
    status.code, status.details = code, str(error)
    status.trailing_metadata = (("grpc-status-details-bin", full.SerializeToString()),)
    return status


class EngineLog:
    """Shows lines at a resource in the engine's own display; never waits for it."""

    def __init__(self, address: str) -> None:
        """Connect to the engine."""
        channel = grpc.aio.insecure_channel(address, options=_GRPC_CHANNEL_OPTIONS)
        self._engine = engine_pb2_grpc.EngineStub(channel)
        self._sending: set[asyncio.Future[Any]] = set()

    def say(self, urn: str, line: str) -> None:
        """Show a line as the resource's present state."""
        request = engine_pb2.LogRequest(severity=engine_pb2.INFO, message=line, urn=urn, ephemeral=True)
        sending = asyncio.ensure_future(self._send(request))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)

    async def _send(self, request: engine_pb2.LogRequest) -> None:
        try:
            await self._engine.Log(request)
        except grpc.aio.AioRpcError:
            return  # the engine is gone; there is nobody to show it to


async def serve(engine: str) -> None:
    """Listen on a free port of the loopback, print it, and serve until we are told to end."""
    server = grpc.aio.server(options=_GRPC_CHANNEL_OPTIONS)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(PlayServicer(Plays(EngineLog(engine).say)), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)  # noqa: T201 - the protocol: the engine reads the port from the first line
    await server.wait_for_termination()


def end_with_the_engine() -> None:
    """End when the engine is gone or tells us to; workers end by themselves when their input closes with us."""
    engine = os.getppid()

    def watch() -> None:
        while os.getppid() == engine:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)


def _end(*_: object) -> NoReturn:
    os._exit(0)


def main() -> None:
    """Run the plugin; its argument is the engine's address."""
    end_with_the_engine()
    asyncio.run(serve(next(argument for argument in sys.argv[1:] if not argument.startswith("-"))))
