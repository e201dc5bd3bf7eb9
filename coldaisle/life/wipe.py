"""
What was done to the disks of a node that leaves: a record a disk, and the certificate that holds them. Pure.

The certificate says what was done, not more: which serial, by which method, and whether every disk was read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from coldaisle.life.journal import LifeError

METHODS: Mapping[str, str] = {
    "overwrite": "every byte overwritten with zeros once and read back (Clear of NIST SP 800-88, as far as the disk "
    "shows its blocks: spare blocks of flash are not reached)",
    "discard": "every byte overwritten with zeros once, every block given back to the drive, and read back as zeros; "
    "the drive erases what it was given back when it sees fit",
    "format": "erased by the drive itself, with the blocks that it does not show (NVM Express, Format NVM, user data "
    "erase), and read back as zeros",
    "signatures": "signatures, partition tables, and the first and last MiB; what lies between can be read",
}
"""Methods of the playbook wipe, and what each does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WipedDisk:
    """One disk. `verified` tells that what the method writes was read back."""

    serial: str
    path: str
    method: str
    verified: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeCertificate:
    """The body of a statement on a node's disks; who signs it adds when, and under which plan."""

    node: str
    chassis: str | None
    disks: tuple[WipedDisk, ...]

    def body(self) -> dict[str, Any]:
        """Return the certificate as plain data."""
        methods = {disk.method: METHODS[disk.method] for disk in self.disks}
        return {
            "node": self.node,
            "chassis": self.chassis,
            "methods": methods,
            "disks": [asdict(d) for d in self.disks],
        }


def certificate(
    node: str, chassis: str | None, lines: Iterable[Mapping[str, Any]], serials: Iterable[str]
) -> WipeCertificate:
    """
    Return the certificate of a wipe.

    Args:
        node: The node.
        chassis: The serial of its chassis, None where the delivery list has none.
        lines: What the playbook says of each disk.
        serials: The disks that were to be wiped.

    Raises:
        LifeError: a disk was not wiped, or was not read back: then there is no certificate.

    """
    told = {str(line.get("serial")): line for line in lines}
    missing = [serial for serial in serials if not told.get(serial, {}).get("verified")]
    if missing:
        why = "; ".join(f"{serial}: {told.get(serial, {}).get('why') or 'not told'}" for serial in missing)
        raise LifeError(f"{node}: no certificate, since not every disk was wiped and read back: {why}")
    disks = (
        WipedDisk(serial=serial, path=str(line["path"]), method=str(line["method"]), verified=True)
        for serial, line in sorted(told.items())
    )
    return WipeCertificate(node=node, chassis=chassis, disks=tuple(disks))
