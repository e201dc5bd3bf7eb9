"""Facts of hosts and of their BMCs, read as drift reads them: by the provider's reader (ADR 0020)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from coldaisle.cli.playbook import inventory_of
from coldaisle.paths import state_dir

if TYPE_CHECKING:
    from coldaisle.cli.progress import Say
    from coldaisle.plan.model import SitePlan
    from components.provider.reading import Reading


def read_facts(plan: SitePlan, wanted: Mapping[str, Collection[str]], say: Say) -> dict[str, Reading]:
    """Return what each host told of the facts that are wanted of it, and why it did not tell the others."""
    from components.provider.reading import Reader, Reading  # noqa: PLC0415 - most commands ask no host
    from components.provider.site import Site  # noqa: PLC0415

    site = Site(plan.name, inventory_of(plan), state_dir(plan.name))

    async def read() -> dict[str, Reading]:
        known = {host: frozenset(names) for host, names in wanted.items() if site.has(host)}
        return await Reader(asyncio.Event()).read(site, known, say) if known else {}

    unknown = {
        host: Reading(errors=dict.fromkeys(names, "the inventory has no such host"))
        for host, names in wanted.items()
        if not site.has(host)
    }
    return asyncio.run(read()) | unknown
