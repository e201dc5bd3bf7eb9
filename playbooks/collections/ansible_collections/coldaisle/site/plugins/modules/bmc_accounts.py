#!/usr/bin/python
"""Take a BMC from its default account to a managed one, without standing outside at any moment."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_accounts
short_description: Take a BMC from its default account to a managed one
description:
  - Sets the managed password, proves it by a login on a new connection, and only then disables the default account.
  - A run that was killed at any step is made good by the next one.
  - Then sees over the managed account that the BMC is the planned machine's, where I(machine) says which that is.
  - After two failed logins in a row an account is left alone for an hour, so that no BMC locks it.
  - Runs on the deploy host, with sushy and pyghmi there.
options:
  default_credentials:
    description: Where the user and password are read from that the BMC came with, in the same forms.
    type: str
    required: true
  machine:
    description: >-
      C(machine_uuid) and C(machine_serial) of the planned machine. They are read over the managed account; where the
      BMC is another machine's, or does not tell, the task fails, and no other one of this node goes on.
    type: dict
    default: {}
extends_documentation_fragment:
  - coldaisle.site.bmc
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Rotate the credentials of a BMC
  delegate_to: localhost
  coldaisle.site.bmc_accounts:
    address: 192.0.2.7
    protocol: redfish
    credentials: file:~/.config/bmc.yaml
    default_credentials: file:~/.config/bmc-default.yaml
"""

RETURN = r"""
steps:
  description: What was done, or would be, in words.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts_login import rotate_and_see
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import ACCESS_OPTIONS
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError


def main() -> None:
    """Rotate the credentials of one BMC."""
    module = AnsibleModule(
        argument_spec={
            **ACCESS_OPTIONS,
            "default_credentials": {"type": "str", "required": True, "no_log": False},
            "machine": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    params = module.params
    try:
        steps = rotate_and_see(params, params["machine"], check=module.check_mode)
    except (BmcError, FactError) as error:
        module.fail_json(msg=f"BMC {params['address']} ({params['protocol']}): {error}")
    module.exit_json(changed=bool(steps), steps=steps, diff={"before": "", "after": "".join(f"{it}\n" for it in steps)})


if __name__ == "__main__":
    main()
