#!/usr/bin/python
"""Read facts of a host in one task."""

from __future__ import annotations

# What runs is the action plugin of the same name: it sends module_utils/run_read.py to the host.

DOCUMENTATION = r"""
module: read
short_description: Read facts of a host in one task
description:
  - Reads each fact by itself. One that cannot be read is listed with its reason and does not fail the task.
  - Changes nothing, in check mode or out of it.
options:
  facts:
    description: Names of the facts, as the plan's plays have them.
    type: list
    elements: str
    required: true
extends_documentation_fragment:
  - coldaisle.site.awaited
  - coldaisle.site.tellers
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Read the MTU of a port and the number of GPUs
  coldaisle.site.read:
    facts: [mtu.rail0, gpu_count]
"""

RETURN = r"""
facts:
  description: Value of each fact that could be read.
  returned: always
  type: dict
  sample: {"mtu.rail0": 9000}
errors:
  description: Why each other fact could not be read.
  returned: always
  type: dict
  sample: {"gpu_count": "nvidia-smi is not installed"}
"""
