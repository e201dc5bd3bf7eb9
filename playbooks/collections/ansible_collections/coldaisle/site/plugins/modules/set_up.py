#!/usr/bin/python
"""Do all that a role does to a host, in one task."""

from __future__ import annotations

# What runs is the action plugin of the same name: it sends module_utils/run_set_up.py to the host.

DOCUMENTATION = r"""
module: set_up
short_description: Do all that a role does to a host, in one task
description:
  - Settles the facts C(user.*), since files may be theirs, writes files as M(coldaisle.site.files) does, and makes all
    facts true as M(coldaisle.site.settle) does. What fails ends it.
  - A host pays for one program instead of three.
options:
  files:
    description: The files, as of M(coldaisle.site.files).
    type: list
    elements: dict
    required: true
  record:
    description: Under which C(name) the host remembers what was written, with the plan's C(digest) of it.
    type: dict
    required: true
extends_documentation_fragment:
  - coldaisle.site.awaited
  - coldaisle.site.host_facts
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Set the kernel up
  coldaisle.site.set_up:
    files:
      - {path: /etc/sysctl.d/90-coldaisle.conf, content: "vm.nr_hugepages = 8\n", reload: [sysctl]}
    record: {name: os, digest: "{{ os_facts['files.os'] }}"}
    facts: "{{ os_facts }}"
"""

RETURN = r"""
changes:
  description: The facts that did not fit, each with what was seen and what is planned.
  returned: always
  type: list
  elements: dict
  sample: [{"fact": "mtu.rail0", "seen": 1500, "planned": 9000}]
paths:
  description: The files that differed.
  returned: where files were looked at
  type: list
  elements: str
facts:
  description: The facts as they are at the end; in check mode as they are now.
  returned: where they were looked at
  type: dict
"""
