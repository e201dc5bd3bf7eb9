#!/usr/bin/python
"""Compare a host with its plan."""

from __future__ import annotations

# What runs is the action plugin of the same name.

DOCUMENTATION = r"""
module: verify
short_description: Compare a host with its plan
description:
  - Reads every planned fact as M(coldaisle.site.read) does, in one task a host, and fails where one is not as planned
    or could not be read. Changes nothing.
options:
  planned:
    description: Every fact of the host, planned.
    type: dict
    required: true
extends_documentation_fragment:
  - coldaisle.site.awaited
  - coldaisle.site.tellers
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Compare with the plan
  coldaisle.site.verify:
    planned: "{{ verify_facts }}"
    bmc: "{{ read_bmc_access }}"
"""

RETURN = r"""
facts:
  description: Value of each fact that could be read.
  returned: always
  type: dict
errors:
  description: Why each other fact could not be read.
  returned: always
  type: dict
msg:
  description: What differs, a sentence for each fact; or how many facts are as planned.
  returned: always
  type: str
"""
