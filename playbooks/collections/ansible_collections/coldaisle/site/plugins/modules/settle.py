#!/usr/bin/python
"""Make facts of a host true, and read each one back."""

from __future__ import annotations

# What runs is the action plugin of the same name: it sends module_utils/run_settle.py to the host.

DOCUMENTATION = r"""
module: settle
short_description: Make facts of a host true, and read each one back
description:
  - Reads every fact, sets those that do not fit the plan, and reads them again.
  - Fails when a fact did not take (a kernel may ignore a value and say nothing), or when a fact that no host can
    change does not fit (the number of GPUs, the driver's version).
extends_documentation_fragment:
  - coldaisle.site.awaited
  - coldaisle.site.host_facts
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Settle the kernel
  coldaisle.site.settle:
    facts:
      sysctl.net.core.rmem_max: "67108864"
      hugepages_2mi: 8
"""

RETURN = r"""
changes:
  description: The facts that did not fit, each with what was seen and what is planned.
  returned: always
  type: list
  elements: dict
  sample: [{"fact": "mtu.rail0", "seen": 1500, "planned": 9000}]
facts:
  description: The facts as they are at the end; in check mode as they are now.
  returned: always
  type: dict
"""
