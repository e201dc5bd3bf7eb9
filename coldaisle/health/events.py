"""What went wrong where and when: one record, whatever log or counter told of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from coldaisle.spec.health import EventKind as Kind

__all__ = ["Event", "Kind", "pci_address"]

_PCI = re.compile(
    r"(?<![0-9a-f])(?<![0-9a-f]:)(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.([0-7]))?(?![0-9a-f:])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, order=True)
class Event:
    """
    Something that a node told.

    Args:
        node: Its name in the plan.
        part: What of it, such as `gpu 0000:58:00.0`, `port rail0`, `psu 1` or `memory`.
        kind: What it is of (coldaisle.spec.health.EventKind).
        code: What happened, in the words of its kind: the number of an Xid, `uncorrected`, `flap`, `replay`.
        count: How often, at least 1.
        seen_at: Seconds since 1970 by the deploy host's clock; a host's own is corrected by how far it is off.
        text: The line or the counter that told it.
        state: Whether it says how things are, and not that something happened: it ends when it is told no more.
    """

    node: str
    part: str
    kind: Kind
    code: str
    count: int
    seen_at: float
    text: str = ""
    state: bool = False

    @property
    def cause(self) -> tuple[Kind, str]:
        """What is counted together, over parts and nodes."""
        return self.kind, self.code


def pci_address(text: str) -> str:
    """
    Return a PCI address in the kernel's form: `PCI:0000:58:00` and `00000000:58:00.0` are both `0000:58:00.0`.

    Raises:
        ValueError: there is none in the text.
    """
    found = _PCI.search(text)
    if found is None:
        raise ValueError(f"{text!r} has no PCI address")
    domain, bus, device, function = found.groups()
    return f"{(domain or '0')[-4:]:0>4}:{bus}:{device}.{function or 0}".lower()
