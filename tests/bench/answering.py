"""Wait until an SSH server answers with its banner at every address: `python -m tests.bench.answering ADDRESS...`."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

LIMIT_S, POLL_S, ANSWER_S = 1800, 0.2, 5
AT_ONCE = 100


async def answers(address: str) -> None:
    """Return when the server at an address has said what it is."""
    while True:
        with suppress(OSError, TimeoutError):
            reader, writer = await asyncio.wait_for(asyncio.open_connection(address, 22), ANSWER_S)
            said = await asyncio.wait_for(reader.readline(), ANSWER_S)
            writer.close()
            if said.startswith(b"SSH-"):
                return
        await asyncio.sleep(POLL_S)


async def all_answer(addresses: list[str]) -> None:
    """Return when every server has answered; TimeoutError where one does not."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(address: str) -> None:
        async with turns:
            await answers(address)

    async with asyncio.timeout(LIMIT_S):
        await asyncio.gather(*map(one, addresses))


if __name__ == "__main__":
    asyncio.run(all_answer(sys.argv[1:]))
