"""
Children of this process that answer questions, one at a time each.

What a library leaves behind (threads, sockets, a session that hangs) stays in its child and ends with it. All that the
children need is loaded before they are forked; a question is JSON, and so is its answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import socket
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from components.provider.events import LINE_LIMIT_BYTES

Answer = Callable[[Any], Any]

QUESTIONS = 32
"""A child ends after so many, whatever a library has left in it by then."""

PATIENCE_S = 0.3
"""
Beyond a child for each CPU, another one is forked where none came free for so long: they wait for slow tellers. Much
shorter, and a busy machine looks like slow tellers: each child costs it 25 ms of CPU that an older one had not cost.
"""

PR_SET_PDEATHSIG = 1


@dataclass(slots=True)
class _Child:
    pid: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    left: int = QUESTIONS

    @property
    def gone(self) -> bool:
        """Say whether it has ended by itself while nobody asked."""
        return self.reader.at_eof()

    async def ask(self, question: Any) -> Any:  # noqa: ANN401 - JSON
        """Return its answer; None where it ended without one."""
        self.left -= 1
        with contextlib.suppress(ConnectionError, ValueError):  # the latter: a line that is too long, or half of one
            self.writer.write(json.dumps(question).encode() + b"\n")
            if answer := await self.reader.readline():
                return json.loads(answer)
        return None

    def end(self) -> int:
        """End it, and return its wait status."""
        self.writer.close()
        os.kill(self.pid, signal.SIGKILL)  # it is ours until it is waited for, even where it ended by itself
        return os.waitpid(self.pid, 0)[1]


@dataclass(slots=True)
class Children:
    """
    Forks children when they are needed, and hands questions to those that are free.

    This process must have no other threads. `answer` takes a question in a child and returns what it tells.
    """

    answer: Answer
    _free: asyncio.LifoQueue[_Child] = field(default_factory=asyncio.LifoQueue)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _alive: set[int] = field(default_factory=set)

    async def ask(self, question: Any) -> Any:  # noqa: ANN401 - whatever `answer` returns, as JSON
        """
        Return what a child answers.

        Raises:
            ChildProcessError: it died before it could say anything.

        """
        async with self._turn:
            while (child := await self._next()).gone:
                self._end(child)
        try:
            answer = await child.ask(question)
        except BaseException:
            self._end(child)
            raise
        if answer is None:
            raise ChildProcessError(f"it ended without an answer (wait status {self._end(child)})")
        if child.left:
            self._free.put_nowait(child)
        else:
            self._end(child)
        return answer

    def end(self) -> None:
        """End the children that are free; one that is asked ends with its question."""
        while not self._free.empty():
            self._end(self._free.get_nowait())

    async def _next(self) -> _Child:
        if self._free.empty() and len(self._alive) < (os.cpu_count() or 1):
            return await self._forked()
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._free.get()
        except TimeoutError:
            return await self._forked()

    async def _forked(self) -> _Child:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            _answer_all(theirs, self.answer)
        theirs.close()
        self._alive.add(pid)
        return _Child(pid, *await asyncio.open_connection(sock=ours, limit=LINE_LIMIT_BYTES))

    def _end(self, child: _Child) -> int:
        self._alive.discard(child.pid)
        return child.end()


def _answer_all(wire: socket.socket, answer: Answer) -> None:
    """Answer until the parent asks no more, and end; nothing of the parent's is used, and no socket of a sibling."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.closerange(3, wire.fileno())
        os.closerange(wire.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        with wire, wire.makefile("r", encoding="utf-8") as questions:
            for question in questions:
                wire.sendall(json.dumps(answer(json.loads(question))).encode() + b"\n")
    except BaseException:  # noqa: BLE001 - it must end here, whatever happens
        traceback.print_exc()
    os._exit(0)
