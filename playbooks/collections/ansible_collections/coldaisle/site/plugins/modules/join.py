#!/usr/bin/python
"""Join this host to its cluster by TLS bootstrap."""

from __future__ import annotations

# What runs is the action plugin of the same name: it sends module_utils/run_join.py to the host.

DOCUMENTATION = r"""
module: join
short_description: Join this host to its cluster by TLS bootstrap
description:
  - Starts the kubelet. Where the host has no kubeconfig of its own yet, gives the kubelet one with a bootstrap token,
    waits until the kubelet got its own, and takes the token away again.
options:
  kubeconfig:
    description: The kubeconfig of the join, without its token.
    type: dict
    required: true
  token:
    description: The bootstrap token.
    type: str
    required: true
  files:
    description: Settings to write before it, as of M(coldaisle.site.files).
    type: list
    elements: dict
    default: []
  timeout_s:
    description: How long the join may take.
    type: float
    default: 90
extends_documentation_fragment:
  - coldaisle.site.awaited
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Join the cluster
  coldaisle.site.join:
    kubeconfig: "{{ kubeconfig }}"
    token: "{{ lookup('coldaisle.site.secret', 'file:~/token') }}"
"""

RETURN = r"""
joined:
  description: Whether this run made the host a member.
  returned: always
  type: bool
"""
