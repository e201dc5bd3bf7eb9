#!/usr/bin/python
"""Give a switch its configuration on trial over its HTTPS API, or keep the one on trial."""

from __future__ import annotations

DOCUMENTATION = r"""
module: switch_api
short_description: Give a switch its configuration on trial over its HTTPS API, or keep the one on trial
description:
  - Without C(token), offers C(config) to the switch, and where it differs from the one in force by what the switch
    itself has made of it, puts it in force with the switch's own timer, which takes it back after C(timer_s) seconds.
  - With C(token) and C(trial) of a trial, over a new connection, waits until the BGP sessions that were up are up
    again, reads the configuration back, and keeps it. Where a session stays away or a section was not taken, the old
    configuration is put back at once and the task fails.
  - What is not the fabric's (users, time, logs, the API itself) stays as it is, and is never shown.
  - Runs on the deploy host, with httpx there.
options:
  config:
    description: The whole configuration, as C(coldaisle fabric configs) writes it.
    type: str
    default: ""
  keep_extra:
    description: Leave sections alone that C(config) does not have, instead of removing them.
    type: bool
    default: false
  timer_s:
    description: Seconds after which a configuration on trial is taken back.
    type: int
    default: 120
  sessions_s:
    description: Seconds that contact and sessions may take to come back.
    type: int
    default: 45
  token:
    description: Names the trial to be kept.
    type: str
    default: ""
  trial:
    description: What the trial to be kept returned under this name.
    type: dict
    default: {}
extends_documentation_fragment:
  - coldaisle.site.switch_api
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Try
  delegate_to: localhost
  coldaisle.site.switch_api:
    system: eos
    address: 192.0.2.11
    credentials: file:~/.config/switches.yaml
    config: "{{ lookup('file', 'leaf01.eos.cfg') }}"
  register: tried

- name: Keep
  when: tried.token | length > 0
  delegate_to: localhost
  coldaisle.site.switch_api:
    system: eos
    address: 192.0.2.11
    credentials: file:~/.config/switches.yaml
    token: "{{ tried.token }}"
    trial: "{{ tried.trial }}"
"""

RETURN = r"""
sections:
  description: Names of the sections that differed.
  returned: always
  type: list
  elements: str
token:
  description: Names the trial; empty where nothing had to change, and in check mode.
  returned: without token
  type: str
trial:
  description: The sections on trial, as the switch spells them, and the sessions that must come back.
  returned: when a trial began
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.switch_life import (
    ACCESS_OPTIONS,
    keep_config,
    open_switch,
    try_config,
)


def main() -> None:
    """Try or keep the configuration of one switch."""
    module = AnsibleModule(
        argument_spec={
            **ACCESS_OPTIONS,
            "config": {"type": "str", "default": ""},
            "keep_extra": {"type": "bool", "default": False},
            "timer_s": {"type": "int", "default": 120},
            "sessions_s": {"type": "int", "default": 45},
            "token": {"type": "str", "default": "", "no_log": False},
            "trial": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    asked = module.params
    try:
        switch = open_switch(asked)
        if asked["token"]:
            result = keep_config(switch, asked["token"], asked["trial"], sessions_s=asked["sessions_s"])
        else:
            options = {name: asked[name] for name in ("config", "keep_extra", "timer_s")}
            result = try_config(switch, **options, check=module.check_mode)
    except FactError as error:
        module.fail_json(msg=f"switch {asked['address']} ({asked['system']}): {error}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
