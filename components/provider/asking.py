"""Asking one host for facts: a program over ssh for what it tells itself."""

from __future__ import annotations

import asyncio
import contextlib

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
