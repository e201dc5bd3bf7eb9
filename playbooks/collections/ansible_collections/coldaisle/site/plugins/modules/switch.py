#!/usr/bin/python
"""Give a switch its configuration on trial, on the switch itself, or keep the one on trial."""

from __future__ import annotations

# What runs is the action plugin of the same name: it sends module_utils/run_switch.py to the switch.

DOCUMENTATION = r"""
module: switch
short_description: Give a switch its configuration on trial, on the switch itself, or keep the one on trial
description:
  - Without C(token), compares the running configuration with C(config) section by section, and where they differ makes
    it the running one, by FRR's own reload or SONiC's C(config replace). A timer on the switch takes it back after
    C(timer_s) seconds.
  - With the C(token) that a trial returned, waits until the BGP sessions that were up are up again, reads the running
    configuration back, writes it to the disk and stops the timer. Where a session stays away or a line was not taken,
    the old configuration is put back at once and the task fails.
  - Between the two, connect anew (C(meta) C(reset_connection)), so that the old connection cannot hide that the switch
    can no longer be reached.
options:
  system:
    description: What the switch runs.
    type: str
    choices: [frr, sonic]
    default: frr
  config:
    description:
      - The whole configuration, as it would stand in C(/etc/frr/frr.conf).
      - Of SONiC, the tables of the fabric, as C(coldaisle fabric configs) writes them; all others stay as they are.
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
    description: Seconds that the sessions may take to come back; FRR tries an idle one anew after some 30.
    type: int
    default: 45
  token:
    description: What the trial to be kept returned.
    type: str
    default: ""
extends_documentation_fragment:
  - coldaisle.site.awaited
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Try
  coldaisle.site.switch:
    config: "{{ lookup('file', 'leaf01.frr.conf') }}"
  register: trial

- name: Connect anew
  ansible.builtin.meta: reset_connection

- name: Keep
  when: trial.token | length > 0
  coldaisle.site.switch:
    token: "{{ trial.token }}"
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
"""
