"""InfiniBand fabrics as ibsim reads them."""

from __future__ import annotations

import pytest

from coldaisle.plan.model import End
from coldaisle.render.ibsim import ibsim_netlist

PORTS = {"leaf01": ("p1", "p2", "p3"), "spine01": ("p1", "p2")}


def test_each_device_has_a_block_with_its_links_at_their_numbers() -> None:
    """A switch has its ports by number, an adapter is named by host and port, and an empty line ends each block."""
    cables = [
        (End(device="n01", port="ib0"), End(device="leaf01", port="p2")),
        (End(device="leaf01", port="p3"), End(device="spine01", port="p1")),
    ]
    assert ibsim_netlist(cables, PORTS) == (
        'Switch 3 "leaf01"\n[2] "n01 ib0"[1]\n[3] "spine01"[1]\n\n'
        'Switch 2 "spine01"\n[1] "leaf01"[3]\n\n'
        'Hca 1 "n01 ib0"\n[1] "leaf01"[2]\n\n'
    )


def test_a_port_that_a_switch_lacks_is_refused() -> None:
    """A cable in a port that is not there is no netlist."""
    with pytest.raises(ValueError, match="p9"):
        ibsim_netlist([(End(device="n01", port="ib0"), End(device="leaf01", port="p9"))], PORTS)
