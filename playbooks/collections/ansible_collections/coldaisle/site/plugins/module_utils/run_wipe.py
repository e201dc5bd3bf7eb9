"""
Wiping disks on a host: only with consent for this node and this serial, never one in use, and with an end.

All disks are looked at before the first is touched, and one that may not be wiped keeps all from it. A disk that cannot
be wiped is named; it is tried `ATTEMPTS` times, and the others are wiped all the same (N12).
"""

from __future__ import annotations

import os
import socket

from ansible_collections.coldaisle.site.plugins.module_utils.disks import (
    MIB,
    device_path,
    has_data_at_ends,
    is_zero,
    overwrite,
    partitions_of,
    read_disks,
    signatures_on,
    uses_of,
)
from ansible_collections.coldaisle.site.plugins.module_utils.erasing import erase
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.host import run as command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ATTEMPTS = 2
"""How often one disk is tried in a run; a run never starts another."""

SIGNATURES, OVERWRITE, ERASE = "signatures", "overwrite", "erase"
"""
What is done to a disk: what makes it look used is taken away; every byte is written over too; or it is emptied by the
way that its kind has, which the result then names.
"""
WHOLE = frozenset({OVERWRITE, ERASE})

COMMAND_S = 60
"""Seconds that one command may take."""


def run(params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    """
    Wipe `disks` of `node`; the result has a line a disk: `state` blank, wiped, refused or failed, and why.

    By a method that empties the whole disk none is blank before it was written and read back.
    """
    node, consent = params["node"], params["consent"]
    here = socket.gethostname().split(".")[0]
    if here != node.split(".")[0]:
        return {"failed": True, "disks": [], "msg": f"{node} was meant, and this host says that it is {here}"}
    try:
        disks = read_disks()
    except FactError as error:
        return {"failed": True, "disks": [], "msg": str(error)}
    method = params.get("method") or SIGNATURES
    found = [_looked_at(node, serial, disks, consent.get(node, [])) for serial in dict.fromkeys(params["disks"])]
    found = [_by(method, line) for line in found]
    if not check and all(line["state"] != "refused" for line in found):
        found = [_wiped(line) if line["state"] == "to wipe" else line for line in found]
    return _result(found)


def _by(method: str, line: dict[str, Any]) -> dict[str, Any]:
    """Return a line with its method, and whether what the method leaves was read back already."""
    if method in WHOLE and line["state"] == "blank":
        line = {**line, "state": "to wipe"}
    return {**line, "method": method, "verified": line["state"] == "blank"}


def _result(found: list[dict[str, Any]]) -> dict[str, Any]:
    lines = [{key: value for key, value in line.items() if key != "device"} for line in found]
    bad = [line for line in lines if line["state"] in {"refused", "failed"}]
    result = {"changed": any(line["state"] in {"wiped", "to wipe"} for line in lines), "disks": lines}
    if bad:
        said = "; ".join(f"disk {line['serial']} {line['state']}: {line['why']}" for line in bad)
        untouched = " (nothing was wiped)" if any(line["state"] == "refused" for line in bad) else ""
        return {
            **result,
            "changed": any(line["state"] == "wiped" for line in lines),
            "failed": True,
            "msg": said + untouched,
        }
    return result


def _looked_at(node: str, serial: str, disks: list[dict[str, Any]], consent: list[str]) -> dict[str, Any]:
    """Return what is to be done with one disk, from what the kernel says of it now."""
    line: dict[str, Any] = {"serial": serial, "path": "", "state": "refused", "why": ""}
    same = [disk for disk in disks if (disk.get("serial") or "").strip() == serial]
    if serial not in consent:
        return {**line, "why": f"nobody agreed to wipe it on {node}: consent names {', '.join(consent) or 'no disk'}"}
    if len(same) != 1:
        return {**line, "why": f"{len(same)} disks of {node} have this serial"}
    line |= {"path": device_path(same[0]), "device": same[0]}
    uses = uses_of(same[0])
    if uses:
        return {**line, "why": f"it is in use: {', '.join(uses)}"}
    try:
        return {**line, "state": "to wipe" if _left_on(same[0]) else "blank"}
    except (FactError, OSError) as error:
        return {**line, "state": "failed", "why": f"cannot be read: {error}"}


def _left_on(device: dict[str, Any]) -> list[str]:
    """Return what is left on a disk: signatures, partitions, or bytes at its ends."""
    path = device_path(device)
    left = [*signatures_on(path), *(f"partition {part}" for part in partitions_of(device))]
    return left or (["data at its ends"] if has_data_at_ends(path) else [])


def _data_on(device: dict[str, Any]) -> list[str]:
    return [] if is_zero(device_path(device)) else ["bytes that are not zero"]


def _wiped(line: dict[str, Any]) -> dict[str, Any]:
    """Wipe one disk and read it back, a bounded number of times."""
    why = ""
    for _ in range(ATTEMPTS):
        try:
            _wipe(line["device"])
            again = _again(line["serial"])
            done = _emptied(line["method"], again)
            left = _left_on(again) or (_data_on(again) if line["method"] in WHOLE else [])
        except (FactError, OSError) as error:
            why = str(error)
            continue
        if not left:
            return {**line, "state": "wiped", "method": done, "verified": True}
        why = f"read back after the wipe: {', '.join(left)}"
    return {**line, "state": "failed", "why": f"{line['path']}, tried {ATTEMPTS} times: {why}"}


def _emptied(method: str, device: dict[str, Any]) -> str:
    """Empty a disk where the method says so, and return what was done to it."""
    if method == ERASE:
        return erase(device)
    if method == OVERWRITE:
        overwrite(device_path(device))
    return method


def _again(serial: str) -> dict[str, Any]:
    """Return a disk as the kernel has it now, without the partitions that it had."""
    found = [disk for disk in read_disks() if (disk.get("serial") or "").strip() == serial]
    if len(found) != 1:
        raise FactError(f"{len(found)} disks have serial {serial} after the wipe")
    return found[0]


def _wipe(device: dict[str, Any]) -> None:
    """
    Take the signatures off a disk and its partitions, and what is at its ends.

    Without `--force`, wipefs asks the kernel for the disk alone, as we do: what is mounted since we looked stays whole.
    """
    path = device_path(device)
    for each in (*reversed(partitions_of(device)), path):
        command("wipefs", "--all", "--quiet", each, timeout_s=COMMAND_S)
    _zero_ends(path)
    command("blockdev", "--rereadpt", path, timeout_s=COMMAND_S)


def _zero_ends(path: str) -> None:
    """Write zeros over the first and the last MiB: partition tables have a copy at the end, and so have old arrays."""
    handle = os.open(path, os.O_RDWR | os.O_EXCL)
    try:
        size = os.lseek(handle, 0, os.SEEK_END)
        for offset in (0, max(0, size - MIB)):
            os.pwrite(handle, b"\0" * min(MIB, size), offset)
        os.fsync(handle)
    finally:
        os.close(handle)
