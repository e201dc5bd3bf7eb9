#!/usr/bin/python
"""Read boot, firmware settings, power and power limit of a machine from its BMC."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_read
short_description: Read boot, firmware settings, power and power limit of a machine from its BMC
description:
  - Reads with one login. A fact that cannot be read is listed with its reason and does not fail the task.
  - Runs on the deploy host, with sushy and pyghmi there.
options:
  facts:
    description:
      - Names of the facts, C(power), C(boot_order), C(power_limit_w), and those of Redfish alone, C(boot_mode),
        C(secure_boot), C(bios.NAME), C(boot_nic), C(boot_override) and C(virtual_media).
    type: list
    elements: str
    required: true
extends_documentation_fragment:
  - coldaisle.site.bmc
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Read a node's power
  delegate_to: localhost
  coldaisle.site.bmc_read:
    address: 192.0.2.7
    protocol: ipmi
    credentials: env:BMC
    facts: [power]
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
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import ACCESS_OPTIONS, read_bmc


def main() -> None:
    """Read one BMC."""
    module = AnsibleModule(
        argument_spec={**ACCESS_OPTIONS, "facts": {"type": "list", "elements": "str", "required": True}},
        supports_check_mode=True,
    )
    seen, errors = read_bmc(module.params, module.params["facts"])
    module.exit_json(changed=False, facts=seen, errors=errors)


if __name__ == "__main__":
    main()
