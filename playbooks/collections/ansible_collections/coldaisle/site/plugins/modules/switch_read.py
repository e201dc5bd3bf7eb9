#!/usr/bin/python
"""Read sections of a switch's configuration over its HTTPS API."""

from __future__ import annotations

DOCUMENTATION = r"""
module: switch_read
short_description: Read sections of a switch's configuration over its HTTPS API
description:
  - Reads with one login. A fact that cannot be read is listed with its reason and does not fail the task.
  - Runs on the deploy host, with httpx there.
options:
  facts:
    description: Names of the facts, C(config.SECTION), C(config_sections), C(effective.dscp), C(effective.pfc).
    type: list
    elements: str
    required: true
extends_documentation_fragment:
  - coldaisle.site.switch_api
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Read which sections a switch has
  delegate_to: localhost
  coldaisle.site.switch_read:
    system: eos
    address: 192.0.2.11
    credentials: env:SWITCH
    facts: [config_sections]
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
from ansible_collections.coldaisle.site.plugins.module_utils.switch_life import ACCESS_OPTIONS, ask_switch


def main() -> None:
    """Read one switch."""
    module = AnsibleModule(
        argument_spec={**ACCESS_OPTIONS, "facts": {"type": "list", "elements": "str", "required": True}},
        supports_check_mode=True,
    )
    seen, errors = ask_switch(module.params, module.params["facts"])
    module.exit_json(changed=False, facts=seen, errors=errors)


if __name__ == "__main__":
    main()
