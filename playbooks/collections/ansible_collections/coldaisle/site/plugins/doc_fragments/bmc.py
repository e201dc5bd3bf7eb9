"""What every module that logs in to a BMC takes."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of an access to a BMC."""

    DOCUMENTATION = r"""
options:
  address:
    description: Address of the BMC, with a port where it is not the usual one.
    type: str
    required: true
  protocol:
    description: What the BMC speaks. IPMI has no inventory, neither of parts nor of firmware, which is an error there.
    type: str
    choices: [redfish, ipmi]
    required: true
  credentials:
    description: Where the managed user and password are read from, C(file:PATH) or C(env:PREFIX).
    type: str
    required: true
  ca_file:
    description: CA certificate that the BMC's certificate is checked against.
    type: path
  timeout_s:
    description: How long one answer of the BMC may take.
    type: float
    default: 20
  vendor:
    description: Whose BMC it is, which chooses the order of IPMI's cipher suites; C(any) where that is not known.
    type: str
    default: any
  connections:
    description: How many connections to this BMC all processes of the deploy host may hold together.
    type: int
    default: 2
"""
