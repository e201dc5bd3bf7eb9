"""
The provider as a gRPC server.

The SDK's servicer does all but two things: it has no word for a resource that is there but incomplete, and it shows the
traceback of every error. Both are added here.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import grpc  # type: ignore[import-untyped]
import grpc.aio  # type: ignore[import-untyped]
from google.protobuf import any_pb2, empty_pb2  # type: ignore[import-untyped]
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.provider import CreateRequest, DeleteRequest, ReadRequest, UpdateRequest
from pulumi.provider.experimental.server import ProviderServicer
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2, provider_pb2_grpc, status_pb2

from components.provider.provider import InitFailedError, PlayError, PlayProvider
from components.provider.run import RunError
from components.provider.site import SiteProblemError
from components.provider.values import engine_map

if TYPE_CHECKING:
    from collections.abc import Awaitable

VERSION = "0.1.0"


class PlayServicer(ProviderServicer):
    """The SDK's servicer, with partial failure and with errors that are messages."""

    _provider: PlayProvider

    async def Create(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401
        """Create, or say which hosts are missing."""
        properties = PropertyValue.unmarshal_map(request.properties)
        asked = CreateRequest(request.urn, properties, request.timeout, request.preview)
        made = await _answered(self._provider.create(asked), context)
        return provider_pb2.CreateResponse(id=made.resource_id, properties=PropertyValue.marshal_map(made.properties))

    async def Update(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401
        """Update, or say which hosts are missing."""
        asked = UpdateRequest(
            request.urn,
            request.id,
            PropertyValue.unmarshal_map(request.olds),
            PropertyValue.unmarshal_map(request.news),
            request.timeout,
            list(request.ignoreChanges),
            request.preview,
        )
        made = await _answered(self._provider.update(asked), context)
        return provider_pb2.UpdateResponse(properties=PropertyValue.marshal_map(made.properties))

    async def Read(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401
        """Read, or say which hosts did not answer."""
        properties = PropertyValue.unmarshal_map(request.properties)
        asked = ReadRequest(request.urn, request.id, properties, PropertyValue.unmarshal_map(request.inputs))
        seen = await _answered(self._provider.read(asked), context)
        return provider_pb2.ReadResponse(
            id=seen.resource_id,
            properties=PropertyValue.marshal_map(seen.properties),
            inputs=PropertyValue.marshal_map(seen.inputs),
        )

    async def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401
        """Delete, or refuse."""
        properties = PropertyValue.unmarshal_map(request.properties)
        await _answered(
            self._provider.delete(DeleteRequest(request.urn, request.id, properties, request.timeout)), context
        )
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
        properties=PropertyValue.marshal_map(engine_map(error.outputs)),
        reasons=error.reasons,
        inputs=PropertyValue.marshal_map(engine_map(error.inputs)),
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


async def serve(arguments: list[str]) -> None:
    """Listen on a free port of the loopback, print it, and serve until we are told to end."""
    engine = next(argument for argument in arguments if not argument.startswith("-"))
    provider = PlayProvider(EngineLog(engine).say)
    server = grpc.aio.server(options=_GRPC_CHANNEL_OPTIONS)
    servicer = PlayServicer(arguments, VERSION, provider, engine_address=engine)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
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
        signal.signal(number, lambda *_: os._exit(0))


def main() -> None:
    """Run the plugin."""
    end_with_the_engine()
    asyncio.run(serve(sys.argv[1:]))
