"""The image of the two guests: the simulated site's own, with the programs that make RDMA traffic."""

from __future__ import annotations

from pathlib import Path

from sim.image.extended import Extension

IMAGE = Extension(
    name="debian-12-rdma",
    packages=(
        "perftest",  # ib_write_bw, ib_send_bw
        "rdmacm-utils",  # rping
    ),
    files=Path(__file__).parent / "files",
)
"""Bonding, 802.1Q, soft RoCE, rdma-core and iproute2 are in the site's image already."""
