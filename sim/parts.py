"""
The parts of a simulated machine with their serials: what its BMC shows, and what a delivery list would say.

Serials follow from the machine's name, so that a list can be written before the machine is made. They are ours, and
look like nobody's.
"""

from __future__ import annotations

import uuid
from typing import Any

NAMESPACE = uuid.UUID("c01da151-e000-4000-8000-00000000e5e5")
DIMMS = 4
DIMM_MIB = 65536


def serial_of(host: str, part: str = "") -> str:
    """Return the serial of a host's part; without one, the chassis' own."""
    return f"CD{uuid.uuid5(NAMESPACE, f'{host}/{part}').hex[:10].upper()}"


def gpu_slot(index: int) -> str:
    """Return the name of a GPU's slot, as a BMC of an HGX board has it."""
    return f"GPU_SXM_{index + 1}"


def dimms(host: str) -> list[dict[str, Any]]:
    """Return the memory modules of a host; the kernel calls each as its BMC does."""
    slots = [f"DIMM_{letter}1" for letter in "ABCD"[:DIMMS]]
    well = {"corrected": 0, "uncorrected": 0}
    return [
        {"slot": slot, "label": slot, "serial": serial_of(host, slot), "size_mib": DIMM_MIB, **well} for slot in slots
    ]


def delivered(host: str, gpus: int) -> dict[str, Any]:
    """Return what the delivery list says of a host's parts."""
    slots = [gpu_slot(index) for index in range(gpus)]
    return {
        "serial": serial_of(host),
        "gpus": {slot: serial_of(host, slot) for slot in slots},
        "dimms": {dimm["slot"]: dimm["serial"] for dimm in dimms(host)},
    }
