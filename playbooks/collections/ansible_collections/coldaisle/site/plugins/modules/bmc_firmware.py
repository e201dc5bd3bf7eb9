#!/usr/bin/python
"""Bring the firmware of a machine to the wanted versions by its BMC."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_firmware
short_description: Bring the firmware of a machine to the wanted versions by its BMC
description:
  - Updates by Redfish's SimpleUpdate, follows each task to its end, also when the BMC starts again, and reads back.
  - Measures the image on the deploy host before the BMC is told to take it.
  - Works on the machines of one failure domain at a time, over all processes of the deploy host; a failure there stops
    the others.
  - Runs on the deploy host, with sushy there.
options:
  items:
    description: Items of the firmware inventory in the order in which they are updated.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Its id in the firmware inventory.
        type: str
        required: true
      version:
        description: The version that it must show.
        type: str
        required: true
      image:
        description: Where the BMC fetches the image.
        type: str
        required: true
      sha256:
        description: The digest of the image.
        type: str
        required: true
      target:
        description: What SimpleUpdate is given as its target; without one, the item of the inventory.
        type: str
  domain:
    description: The failure domain, such as the rack.
    type: str
    required: true
  member:
    description: The machine's name, for messages.
    type: str
    required: true
  machine:
    description: C(machine_uuid) and C(machine_serial) of the planned machine; with another one nothing is updated.
    type: dict
    default: {}
  update_timeout_s:
    description: How long one update may take.
    type: float
    default: 1800
extends_documentation_fragment:
  - coldaisle.site.bmc
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Update a BIOS
  delegate_to: localhost
  coldaisle.site.bmc_firmware:
    address: 192.0.2.7
    protocol: redfish
    credentials: file:~/.config/bmc.yaml
    domain: r01
    member: r01-n01
    items:
      - name: BIOS
        version: 2.5.0
        image: http://192.0.2.1/firmware/bios-2.5.0.bin
        sha256: 3fa2...
"""

RETURN = r"""
changes:
  description: What did not fit, each with what was seen and what is planned.
  returned: always
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import ACCESS_OPTIONS
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_firmware_settle import settle_firmware
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError

ITEM = {
    "name": {"type": "str", "required": True},
    "version": {"type": "str", "required": True},
    "image": {"type": "str", "required": True},
    "sha256": {"type": "str", "required": True},
    "target": {"type": "str"},
}


def main() -> None:
    """Settle the firmware of one machine."""
    module = AnsibleModule(
        argument_spec={
            **ACCESS_OPTIONS,
            "items": {"type": "list", "elements": "dict", "required": True, "options": ITEM},
            "domain": {"type": "str", "required": True},
            "member": {"type": "str", "required": True},
            "machine": {"type": "dict", "default": {}},
            "update_timeout_s": {"type": "float", "default": 1800.0},
        },
        supports_check_mode=True,
    )
    params = module.params
    try:
        changes = settle_firmware(params, check=module.check_mode)
    except (BmcError, FactError) as error:
        module.fail_json(msg=f"BMC {params['address']} ({params['protocol']}): {error}")
    before = "".join(f"{change['fact']} = {change['seen']}\n" for change in changes)
    after = "".join(f"{change['fact']} = {change['planned']}\n" for change in changes)
    module.exit_json(changed=bool(changes), changes=changes, diff={"before": before, "after": after})


if __name__ == "__main__":
    main()
