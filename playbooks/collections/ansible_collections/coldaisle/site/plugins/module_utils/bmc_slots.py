"""
How many connections a BMC holds at once, across all processes of the deploy host.

NVIDIA wants at most four clients on the BMC of a GB200 or GB300, two of which its power service takes (DPS, "BMC
readiness and health guide"); a burst of IPMI commands silences other BMCs. So ours are two, of which one may change
things.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import held, record_path

CONNECTIONS = 2
WAIT_S = 600.0
"""As long as the longest thing that is done over one connection may take: a power change, with its waits."""


@contextlib.contextmanager
def connection(
    address: str, *, changes: bool = False, limit: int = CONNECTIONS, timeout_s: float = WAIT_S
) -> Iterator[None]:
    """
    Hold one of a BMC's connections; who changes things is alone in that.

    Raises:
        BmcError: none became free in time.

    """
    place = record_path("connection", address)
    with contextlib.ExitStack() as stack:
        if changes:
            stack.enter_context(held([place.with_suffix(".changes")], timeout_s))
        stack.enter_context(held([place.with_suffix(f".{number}") for number in range(limit)], timeout_s))
        yield
