"""What every module that makes facts of a host true takes."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of planned facts."""

    DOCUMENTATION = r"""
options:
  facts:
    description: Planned value of each fact.
    type: dict
    required: true
  links:
    description: Ports of the host, each with C(name) and C(mac).
    type: list
    elements: dict
    default: []
"""
