#!/usr/bin/python
"""Wait until a host takes a command."""

from __future__ import annotations

# What runs is the action plugin of the same name: the host needs nothing for it but a shell.

DOCUMENTATION = r"""
module: wait
short_description: Wait until a host takes a command
description:
  - Asks the host for a command that does nothing, until it takes it.
  - In check mode it asks once and says in C(up) whether the host is up, since nothing was turned on.
options:
  timeout_s:
    description: How long to wait.
    type: float
    default: 600
  interval_s:
    description: How long to pause between two tries.
    type: float
    default: 1
  macs:
    description:
      - MAC addresses of the ports that the host is planned to have. One that has none of them is another machine, and
        the task fails before anything is changed.
    type: list
    elements: str
    default: []
  machine:
    description:
      - C(machine_uuid) and C(machine_serial) of the planned machine. One whose firmware has others is another machine,
        and the task fails before anything is changed; firmware that has none is not held against it.
    type: dict
    default: {}
  disk_records:
    description:
      - Folder of the deploy host that remembers by machine id which host a disk was first seen at. A host with the disk
        of another one is a copy of it, and the task fails before anything is changed.
    type: str
    default: ""
  provisioner:
    description:
      - C(address) of the provisioner, and C(fact), its fact of other DHCP servers. It is asked once when the time is
        over, so that the failure names a server that may have given the host its boot files; empty where nobody is.
    type: dict
    default: {}
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Wait until the node has booted
  coldaisle.site.wait:
    timeout_s: 300
"""

RETURN = r"""
up:
  description: Whether the host took the command.
  returned: success
  type: bool
waited_s:
  description: How long it took, in seconds.
  returned: when the host is up
  type: float
"""
