"""What the vendor's delivery list says of each node: hardware addresses, and how its BMC is spoken to."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from coldaisle.spec.base import Mac, SpecModel, Uuid, refers_to
from coldaisle.spec.subnet import Guid

NodeRef = Annotated[str, refers_to("node")]


class NodeHardware(SpecModel):
    """
    One delivered node.

    `macs` is by network port, as the operating system names it, and so are `guids`, those of InfiniBand ports. `disks`
    has the serial of each disk by a label of the site's own, such as boot0. `serial` and `uuid` are the machine's own,
    as its firmware (SMBIOS, system information) and its BMC show them: a machine with others is not touched. `gpus` and
    `dimms` have the serials of the GPUs and memory modules by their slots, as the BMC names them.
    """

    bmc_protocol: Literal["redfish", "ipmi"] = "redfish"
    bmc_mac: Mac | None = None
    serial: str | None = None
    uuid: Uuid | None = None
    macs: dict[str, Mac] = Field(default_factory=dict)
    guids: dict[str, Guid] = Field(default_factory=dict)
    disks: dict[str, str] = Field(default_factory=dict)
    gpus: dict[str, str] = Field(default_factory=dict)
    dimms: dict[str, str] = Field(default_factory=dict)


HardwareSpec = dict[NodeRef, NodeHardware]
