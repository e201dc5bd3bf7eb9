"""What every module that logs in to the HTTPS API of a switch takes."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of an access to a switch."""

    DOCUMENTATION = r"""
options:
  system:
    description: What the switch runs.
    type: str
    choices: [cumulus, eos]
    required: true
  address:
    description: Address of the switch.
    type: str
    required: true
  port:
    description: TCP port of its API, where it is not the system's usual one.
    type: int
  credentials:
    description: Where user and password are read from, C(file:PATH) or C(env:PREFIX).
    type: str
    required: true
  ca_file:
    description: CA certificate that the switch's certificate is checked against.
    type: path
"""
