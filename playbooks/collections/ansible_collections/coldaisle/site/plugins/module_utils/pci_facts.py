"""
Facts of PCI Express, read with setpci: what a NIC may ask for at once, its ordering, and where peers' traffic goes.

Register names are setpci's own (`setpci --dumpregs`); the bits are those of the PCI Express Base Specification.
"""

from __future__ import annotations

from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Fact,
    FactError,
    per_reading,
    read_text,
    run,
)
from ansible_collections.coldaisle.site.plugins.module_utils.kernel_facts import HOST_SERVICE, restart_host_service

DEVICE_CONTROL = "CAP_EXP+8.w"
RELAXED_ORDERING = 0x0010
READ_REQUEST_SHIFT, READ_REQUEST_MASK = 12, 0x7
SMALLEST_READ_BYTES = 128
"""Maximum read request size 0; each step doubles it."""

ACS_CONTROL = "ECAP_ACS+6.w"
ACS_REDIRECT = 0x000C
"""P2P request redirect and P2P completion redirect: with them, GPU and NIC meet at the root complex only."""

PCI_DEVICES = Path("/sys/bus/pci/devices")
BRIDGE_CLASS = "0x0604"


def pci_address(nic: str) -> str:
    """
    Return the PCI address of a port.

    Raises:
        FactError: the port is not there, or hangs on no PCI device.

    """
    device = Path(f"/sys/class/net/{nic}/device")
    if not device.exists():
        raise FactError(f"{device} does not exist: {nic} is no port of a PCI device")
    return device.resolve().name


@per_reading
def _register(address: str, name: str) -> int:
    return int(run("setpci", "-s", address, name).strip(), 16)


def _read_max_read_request(nic: str) -> int:
    step = _register(pci_address(nic), DEVICE_CONTROL) >> READ_REQUEST_SHIFT & READ_REQUEST_MASK
    return SMALLEST_READ_BYTES << step


def _read_relaxed_ordering(nic: str) -> bool:
    return bool(_register(pci_address(nic), DEVICE_CONTROL) & RELAXED_ORDERING)


def _read_acs(_name: str) -> str:
    """Return off, or the bridges that redirect; one without the capability redirects nothing."""
    bridges = sorted(path.name for path in PCI_DEVICES.glob("*") if read_text(path / "class").startswith(BRIDGE_CLASS))
    on = [bridge for bridge in bridges if _redirects(bridge)]
    return f"on at {','.join(on)}" if on else "off"


def _redirects(bridge: str) -> bool:
    try:
        return bool(_register(bridge, ACS_CONTROL) & ACS_REDIRECT)
    except FactError as error:
        if "apability" in str(error):  # setpci: ... Extended capability 000d not found.
            return False
        raise


_HINT = f"journalctl -u {HOST_SERVICE}, and the BIOS, which may set it at boot"
FACTS: dict[str, Fact] = {
    "max_read_request": Fact(_read_max_read_request, restart_host_service, _HINT),
    "relaxed_ordering": Fact(_read_relaxed_ordering, restart_host_service, _HINT),
    "acs_redirect": Fact(_read_acs, restart_host_service, _HINT),
}
