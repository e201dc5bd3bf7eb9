"""What every module that asks the API of a cluster for a node takes."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of a node of a cluster."""

    DOCUMENTATION = r"""
options:
  name:
    description: Name of the node.
    type: str
    required: true
  kubeconfig:
    description: Where the kubeconfig is read from, C(file:PATH) or C(env:NAME).
    type: str
    required: true
"""
