#!/usr/bin/python
"""Wipe disks of a host, with consent for each."""

from __future__ import annotations

# What runs is the action plugin of the same name: it sends module_utils/run_wipe.py to the host.

DOCUMENTATION = r"""
module: wipe
short_description: Wipe disks of a host, with consent for each
description:
  - Takes signatures and partition tables off disks that are named by serial, and reads back that none is left.
  - Refuses a disk that nobody agreed to lose, that two disks could be, or that is in use (mounted, swap, LVM, md, or
    held by anybody the kernel knows of). When one is refused, none is wiped.
  - A disk that cannot be wiped is named, after a bounded number of tries; the others are wiped.
options:
  node:
    description: The node that is meant. The host's own name must be the same.
    type: str
    required: true
  disks:
    description: Serials of the disks.
    type: list
    elements: str
    required: true
  consent:
    description: Serials that may be wiped, a list a node.
    type: dict
    required: true
  method:
    description:
      - C(signatures) takes away what makes a disk look used. C(overwrite) writes zeros over every byte too, and reads
        all of them back; it takes as long as writing and reading the whole disk. C(erase) goes by the disk's kind - an
        NVMe drive that has one namespace erases itself (C(nvme format --ses=1)), other flash is overwritten and gives
        its blocks back (C(blkdiscard)), all else is overwritten - and reads every byte back too.
    type: str
    choices: [signatures, overwrite, erase]
    default: signatures
extends_documentation_fragment:
  - coldaisle.site.awaited
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Wipe a disk
  coldaisle.site.wipe:
    node: r01-n03
    disks: [S6CKNT0W700001]
    consent: {r01-n03: [S6CKNT0W700001]}
"""

RETURN = r"""
disks:
  description: A line a disk, with its C(serial), C(path), C(state) (blank, wiped, to wipe, refused, failed), C(why),
    C(method) (where C(erase) was asked for, what was done - format, discard or overwrite), and C(verified), true
    when what the method leaves was read back.
  returned: always
  type: list
  elements: dict
  sample: [{"serial": "S6CKNT0W700001", "path": "/dev/nvme0n1", "state": "wiped", "why": "",
            "method": "overwrite", "verified": true}]
"""
