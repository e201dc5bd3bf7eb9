#!/usr/bin/python
"""Read what hardware a BMC shows."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_inventory
short_description: Read what hardware a BMC shows
description:
  - Reads the parts of a machine over Redfish with one login. What can be read is kept, and each gap has its reason.
  - Runs on the deploy host, with sushy there.
extends_documentation_fragment:
  - coldaisle.site.bmc
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Read a node's hardware
  delegate_to: localhost
  coldaisle.site.bmc_inventory:
    address: 192.0.2.7
    protocol: redfish
    credentials: env:BMC
"""

RETURN = r"""
parts:
  description: Lists of parts by C(system), C(processors), C(gpus), C(memory), C(ports) and C(drives).
  returned: always
  type: dict
gaps:
  description: Why each kind of part is missing or incomplete.
  returned: always
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import ACCESS_OPTIONS, read_parts
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError


def main() -> None:
    """Read one BMC."""
    module = AnsibleModule(argument_spec=ACCESS_OPTIONS, supports_check_mode=True)
    address = module.params["address"]
    try:
        parts, gaps = read_parts(module.params)
    except (BmcError, FactError) as error:
        module.fail_json(msg=f"BMC {address} ({module.params['protocol']}): {error}")
    module.exit_json(changed=False, parts=parts, gaps=gaps)


if __name__ == "__main__":
    main()
