"""
Asking one host for facts: a program over ssh for what it tells itself, a child of this process for what others tell.

A BMC, the cluster's API and a switch's API are asked in a child that is forked for the one question: the libraries are
loaded once, before, and what one of them leaves behind (threads, sockets, a session that hangs) is gone with the child.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import traceback
from collections.abc import Callable
from typing import Any

from components.provider.logins import Login

HOST_TIMEOUT_S = 150.0
"""Time for one login and all that it reads. A command on the host has 20 s to 60 s."""

SHARED_TIMEOUT_S = 5.0
"""
Time in which a host must answer over a connection that a play has left open, before a login of our own.

A host that died while it was open is noticed by ssh only when its keep-alive messages stay without an answer: six times
5 s.
"""

OUTPUT_LIMIT_BYTES = 4 * 1024 * 1024
"""What a host may print; some hundred facts have a few kilobytes."""

CONNECTION_FAILED = 255
"""The exit code by which ssh says that it, and not the command, has failed (ssh(1))."""

REFUSALS = ("Permission denied", "Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED")
"""Signs of a host that has answered: asking again changes nothing, and may lock the user out."""

PR_SET_PDEATHSIG = 1


class SilentError(Exception):
    """The host did not let us in; the text is ssh's."""


async def run_program(login: Login, text: bytes) -> tuple[int, str, str]:
    """
    Run a program on a host, and return its exit code and what it printed.

    Raises:
        SilentError: it cannot be reached, refuses the login, shows another key, or is silent for HOST_TIMEOUT_S.

    """
    if login.socket is not None and login.socket.exists() and not await _answers(login):
        login = login.alone()
    for left in reversed(range(login.tries)):
        code, output, errors = await _run(login, text)
        if code != CONNECTION_FAILED:
            return code, output, errors
        if left == 0 or any(sign in errors for sign in REFUSALS):
            break
    raise SilentError(f"Failed to connect to the host via ssh: {errors.strip()}")


async def _run(login: Login, text: bytes) -> tuple[int, str, str]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *login.words, login.python, stdin=pipe, stdout=pipe, stderr=pipe, limit=OUTPUT_LIMIT_BYTES
    )
    assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018 - asked for above
    try:
        async with asyncio.timeout(HOST_TIMEOUT_S):
            process.stdin.write(text)
            process.stdin.write_eof()
            output, errors = await asyncio.gather(_limited(process.stdout), _limited(process.stderr))
            return await process.wait(), output, errors
    except TimeoutError:
        raise SilentError(f"no end of its answer after {HOST_TIMEOUT_S:g} s") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _answers(login: Login) -> bool:
    """Tell whether a host answers over the shared connection, soon."""
    null = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*login.words, "true", stdin=null, stdout=null, stderr=null)
    try:
        async with asyncio.timeout(SHARED_TIMEOUT_S):
            return await process.wait() != CONNECTION_FAILED
    except TimeoutError:
        return False
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _limited(stream: asyncio.StreamReader) -> str:
    """Return what a stream has, up to the limit: who prints more is cut off there, and gives no result."""
    found = bytearray()
    while len(found) < OUTPUT_LIMIT_BYTES and (part := await stream.read(65536)):
        found += part
    return found.decode(errors="replace")


async def in_child(function: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the function returns, as JSON
    """
    Run a function in a child of this process, which must have no other threads, and return what it returned.

    Raises:
        ChildProcessError: the child died before it could say anything.

    """
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        _be_child(theirs, function)
    os.close(theirs)
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours, "rb"))
    try:
        answer = await reader.read()
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        transport.close()
        _, status = os.waitpid(pid, 0)  # noqa: ASYNC222 - it has closed its pipe or was killed: there is no wait
    if not answer:
        raise ChildProcessError(f"it ended without an answer (wait status {status})")
    return json.loads(answer)


def _be_child(pipe: int, function: Callable[[], Any]) -> None:
    """Answer into the pipe and end; nothing of the parent's is used, and no pipe of a sibling kept open."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.closerange(3, pipe)
        os.closerange(pipe + 1, os.sysconf("SC_OPEN_MAX"))
        os.set_blocking(pipe, True)
        with os.fdopen(pipe, "wb") as out:
            out.write(json.dumps(function()).encode())
    except BaseException:  # noqa: BLE001 - it must end here, whatever happens
        traceback.print_exc()
    os._exit(0)
