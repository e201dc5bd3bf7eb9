#!/usr/bin/python
"""Settle boot order, power and power limit of a machine by its BMC."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bmc
short_description: Settle boot order, power and power limit of a machine by its BMC
description:
  - Sets what a machine boots from first and its power, by Redfish or IPMI, and reads both back.
  - Sets the power limit of its chassis by Redfish, and reads it back; a BMC without one is an error.
  - Runs on the deploy host, with sushy and pyghmi there.
options:
  address:
    description: Address of the BMC, with a port where it is not the usual one.
    type: str
    required: true
  protocol:
    description: What the BMC speaks.
    type: str
    choices: [redfish, ipmi]
    required: true
  credentials:
    description: Where user and password are read from, C(file:PATH) or C(env:PREFIX).
    type: str
    required: true
  ca_file:
    description: CA certificate that the BMC's certificate is checked against.
    type: path
  facts:
    description: Planned C(boot_order) (what comes first), C(power), and C(power_limit_w) in watts.
    type: dict
    required: true
  power_timeout_s:
    description: How long the machine may take to reach the power state.
    type: float
    default: 60
  timeout_s:
    description: How long one answer of the BMC may take.
    type: float
    default: 20
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Turn a node on, to boot over the network
  delegate_to: localhost
  coldaisle.site.bmc:
    address: 192.0.2.7
    protocol: redfish
    credentials: file:~/.config/bmc.yaml
    facts: {boot_order: pxe, power: "on"}
"""

RETURN = r"""
changes:
  description: What did not fit, each with what was seen and what is planned.
  returned: always
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError, one_at_a_time
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import ACCESS_OPTIONS, connect, settle_bmc
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError


def main() -> None:
    """Settle one BMC."""
    module = AnsibleModule(
        argument_spec={
            **ACCESS_OPTIONS,
            "facts": {"type": "dict", "required": True},
            "power_timeout_s": {"type": "float", "default": 60.0},
        },
        supports_check_mode=True,
    )
    params = module.params
    planned = {name: str(value) for name, value in params["facts"].items()}
    try:
        with one_at_a_time(params["address"]):
            changes = settle_bmc(connect(params), planned, params["power_timeout_s"], check=module.check_mode)
    except (BmcError, FactError) as error:
        module.fail_json(msg=f"BMC {params['address']} ({params['protocol']}): {error}")
    before = "".join(f"{change['fact']} = {change['seen']}\n" for change in changes)
    after = "".join(f"{change['fact']} = {change['planned']}\n" for change in changes)
    module.exit_json(changed=bool(changes), changes=changes, diff={"before": before, "after": after})


if __name__ == "__main__":
    main()
