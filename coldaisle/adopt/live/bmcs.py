"""BMCs over Redfish, many at once; what one of them tells is read by the code that plays use, which is passed in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from coldaisle.adopt.facts import Untold
from coldaisle.adopt.live import Say, Taken, beside, quiet

Read = Callable[[str], Mapping[str, Any] | str]
"""Returns what the BMC at an address tells, or in words why it tells nothing."""


@dataclass(frozen=True)
class RedfishLive:
    """Some BMCs, by their addresses."""

    addresses: tuple[str, ...]
    read: Read
    at_once: int

    @property
    def name(self) -> str:
        """How it is called in messages."""
        return f"redfish of {len(self.addresses)} BMCs"

    def take(self, say: Say = quiet) -> Taken:
        """Ask all of them; who does not answer is named, and the others count."""
        told = dict(zip(self.addresses, beside(self.read, self.addresses, self.at_once, say), strict=True))
        files = {
            f"{address}.json": json.dumps({"address": address, **answer}, indent=1)
            for address, answer in told.items()
            if not isinstance(answer, str)
        }
        silent = [(address, why) for address, why in told.items() if isinstance(why, str)]
        return Taken(
            {"redfish": files},
            tuple(Untold("redfish", address, "everything", why, silent=True) for address, why in silent),
        )
