"""Faults of a machine that stands in another's place: its BMC is at the other's cable, or its disk is a copy."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.errors import SimError
from sim.machines import NAMESPACE_UUID, Machine
from sim.replaced import MACHINE, new_uuid

if TYPE_CHECKING:
    from sim.faults import Target

ANOTHER_MACHINE, COPIED_DISK = "another-machine", "copied-disk"
OF_A_DISK = ("etc/machine-id", "etc/hostname", "etc/ssh/ssh_host_ed25519_key")
"""What tells one installed disk from another, below the layer of a host."""


def shown_uuid(machine: Machine, faults: Mapping[str, Any]) -> str:
    """Return the UUID that a BMC shows: that of its machine, of a new one, or of the one that it is plugged into."""
    if (other := faults.get(ANOTHER_MACHINE)) is not None:
        return str(uuid.uuid5(NAMESPACE_UUID, str(other["of"])))
    new = faults.get(MACHINE)
    return machine.uuid if new is None else new_uuid(machine.name, new)


def need_other(target: Target, options: Mapping[str, Any]) -> None:
    """Refuse a fault that names no other node of the plan; SimError says how one is named."""
    names = [node.name for node in target.plan.nodes if node.name != target.node.name]
    if options.get("of") not in names:
        have = f"of={options.get('of', '')}; nodes: {', '.join(names[:8])}"
        raise SimError(target.node.name, "the fault needs another node", have, "name one with --set of=NODE")


def copy_disk(target: Target, options: Mapping[str, Any]) -> None:
    """Put what tells the other node's disk onto this one's; it holds from the next power-on."""
    need_other(target, options)
    own, kept = target.machine.path / "upper", target.machine.path / "before-copy"
    if not (own / OF_A_DISK[0]).exists():
        what = "only a light host keeps machine id, name and host key on a disk of its own"
        raise SimError(target.node.name, what, f"it is a {target.machine.kind}", "choose a light host of a hall")
    _copy(own, kept)
    _copy(target.machine.path.with_name(str(options["of"])) / "upper", own)


def restore_disk(target: Target, _options: Mapping[str, Any]) -> None:
    """Put the node's own things back."""
    kept = target.machine.path / "before-copy"
    _copy(kept, target.machine.path / "upper")
    shutil.rmtree(kept)


def _copy(source: Path, to: Path) -> None:
    for name in OF_A_DISK:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, to / name)
