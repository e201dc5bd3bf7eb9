#!/usr/bin/python
"""Run acceptance tools on a host, and keep what they print."""

from __future__ import annotations

# What runs is the action plugin of the same name: it sends module_utils/run_trials.py to the host.

DOCUMENTATION = r"""
module: trials
short_description: Run acceptance tools on a host, and keep what they print
description:
  - Runs command lines one after the other, each until it ends or its time is over, and appends what each printed to
    a file on the deploy host. It judges nothing.
  - In check mode nothing runs.
options:
  steps:
    description: Steps, each with C(id), C(argv), C(timeout_s), and for a pair C(serve), C(serve_s) and C(port).
    type: list
    elements: dict
    required: true
  serve:
    description: Start the serving end of each pair instead, and leave it running until its time is over.
    type: bool
    default: false
  keep:
    description: Folder on the deploy host, in which each host has a file of JSON lines.
    type: str
    required: true
extends_documentation_fragment:
  - coldaisle.site.awaited
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Ask a host for its GPUs
  coldaisle.site.trials:
    keep: /tmp/accept
    steps:
      - id: r01-n01/gpu-state
        argv: [nvidia-smi, -L]
        timeout_s: 60
"""

RETURN = r"""
count:
  description: How many outputs were kept.
  returned: always
  type: int
"""
