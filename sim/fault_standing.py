"""
Which faults of a node still stand: a run of the product repairs some of them, and knows nothing of their record.

A fault of a cable, a BMC or a part stands until it is taken back. What somebody set by hand, or a reset clears, is
looked at where it is; where nobody answers it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from coldaisle.plan.model import NodePlan
from sim.errors import SimError
from sim.fault_records import active_faults
from sim.shell import find, run
from sim.state import State, read_json

Options = Mapping[str, Any]

ANSWERS_S = 2
"""How long a host may take to answer on a network of this machine."""


def standing(state: State, node: NodePlan) -> tuple[str, ...]:
    """Return the names of a node's faults, without those that somebody has repaired."""
    faults = active_faults(state, node.name)
    return tuple(name for name, options in faults.items() if not _is_repaired(state, node, name, options))


def ssh(state: State, node: NodePlan, command: str, within_s: int = 10) -> str:
    """
    Run a command on a host as its administrator would, and return what it printed.

    Raises:
        SimError: the host does not answer, or the command fails.

    """
    options = ["-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
    options += ["-o", "LogLevel=ERROR", "-o", f"ConnectTimeout={within_s}"]
    address = node.management_address.split("/")[0]
    return run([find("ssh", "openssh-client"), *options, "-i", state.ssh_key, f"root@{address}", command]).stdout


def planned_device(node: NodePlan) -> str:
    """Return what a node boots from first by the plan, as Redfish calls it."""
    wanted = node.bmc.boot_order[0] if node.bmc and node.bmc.boot_order else "disk"
    return "Pxe" if wanted == "pxe" else "Hdd"


def planned_mtu(node: NodePlan, options: Options) -> int | None:
    """Return the planned MTU of the port that a fault is on, in bytes."""
    port = options.get("port", "rail0")
    return next(nic.mtu_bytes for nic in node.nics if nic.name == port)


def _boots_as_planned(state: State, node: NodePlan, _options: Options) -> bool:
    return read_json(state.bmcs / f"{node.name}.json").get("boot_device") == planned_device(node)


def _has_its_mtu(state: State, node: NodePlan, options: Options) -> bool:
    shown = ssh(state, node, f"cat /sys/class/net/{options.get('port', 'rail0')}/mtu", ANSWERS_S)
    return shown.strip() == str(planned_mtu(node, options))


def _counts_no_errors(state: State, node: NodePlan, options: Options) -> bool:
    query = "--query-gpu=ecc.errors.uncorrected.volatile.total --format=csv,noheader"
    counts = ssh(state, node, f"nvidia-smi {query}", ANSWERS_S).split()
    index = int(options.get("index", 0))
    return index < len(counts) and counts[index] == "0"


_REPAIRED: Mapping[str, Callable[[State, NodePlan, Options], bool]] = {
    "boot-order-drift": _boots_as_planned,
    "mtu-drift": _has_its_mtu,
    "gpu-ecc": _counts_no_errors,
}
"""By fault, how it is seen that somebody has repaired it; all others end only when they are taken back."""


def _is_repaired(state: State, node: NodePlan, name: str, options: Options) -> bool:
    try:
        return name in _REPAIRED and _REPAIRED[name](state, node, options)
    except SimError:
        return False
