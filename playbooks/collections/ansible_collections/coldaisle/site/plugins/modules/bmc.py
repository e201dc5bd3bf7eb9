#!/usr/bin/python
"""Settle boot, firmware settings, power and power limit of a machine by its BMC."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bmc
short_description: Settle boot, firmware settings, power and power limit of a machine by its BMC
description:
  - Sets what a machine boots from first and its power, by Redfish or IPMI, and reads both back.
  - Sets boot mode, secure boot and BIOS attributes by Redfish. They hold after a reset, which this module does for a
    machine that it turns on anyway, and else only with I(may_reset).
  - Sets the first network port of the boot order, the boot override and virtual media by Redfish.
  - Sets the power limit of its chassis by Redfish, and reads it back; a BMC without one is an error.
  - With I(default_credentials) it first lets in the managed account, as M(coldaisle.site.bmc_accounts) does.
  - Takes the lease of the node's power; a node that another run or a maintenance holds is refused, with its holder.
  - Runs on the deploy host, with sushy and pyghmi there.
options:
  facts:
    description:
      - Planned C(boot_order) (what comes first), C(power), C(power_limit_w) in watts, C(event_destination), a URL.
      - C(power_policy), what follows when the feed comes back, which is C(always-on), C(always-off) or C(last-state).
      - C(boot_mode) (C(uefi) or C(bios)), C(secure_boot) (C(on) or C(off)), C(bios.NAME) for an attribute of the BIOS.
      - C(boot_nic), the MAC address of the first port in the boot order; C(boot_override), C(none), a device, or a
        device and C(once); C(virtual_media), the URL of an image or C(none).
    type: dict
    required: true
  default_credentials:
    description: >-
      Where the user and password are read from that the BMC came with, in the same forms. Empty where nobody rotates
      them.
    type: str
    default: ""
  may_reset:
    description: Whether a machine that is on may be turned off and on to apply firmware settings.
    type: bool
    default: false
  apply_timeout_s:
    description: How long firmware may take to apply settings after the machine was turned on.
    type: float
    default: 1200
  power_timeout_s:
    description: How long the machine may take to reach the power state.
    type: float
    default: 60
  why:
    description: What others are told who find the node's power held meanwhile.
    type: str
    default: bring-up
extends_documentation_fragment:
  - coldaisle.site.bmc
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

- name: Switch secure boot on, with a reset
  delegate_to: localhost
  coldaisle.site.bmc:
    address: 192.0.2.7
    protocol: redfish
    credentials: file:~/.config/bmc.yaml
    facts: {secure_boot: "on", bios.SriovGlobalEnable: Enabled}
    may_reset: true
"""

RETURN = r"""
changes:
  description: What did not fit, each with what was seen and what is planned.
  returned: always
  type: list
  elements: dict
steps:
  description: What was done to the BMC's accounts, or would be, in words.
  returned: success
  type: list
  elements: str
facts:
  description: The facts of the system as they were read over the same login after all was set; none in check mode.
  returned: success
  type: dict
pending:
  description: Facts that the BMC has taken and that hold only after a reset, which this run was not allowed to do.
  returned: always
  type: list
  elements: str
"""

import contextlib
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError, text_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts_login import rotate_and_see
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import (
    ACCESS_OPTIONS,
    BESIDE,
    IDENTITY,
    logged_in,
    read_over,
)
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_lease import power_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_settle import settle_bmc
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError


def _settled(
    params: dict[str, Any], planned: dict[str, str], *, check: bool
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """
    Settle as the one owner of the node's power; check mode takes no lease, since it changes nothing.

    Return what was not as planned, and what the system's facts are now, read over the same login.
    """
    seen: dict[str, Any] = {}
    limits = {name: params[name] for name in ("may_reset", "apply_timeout_s")}
    with contextlib.ExitStack() as stack:
        if not check:
            stack.enter_context(power_of(params["address"], params["why"]))
        bmc = stack.enter_context(logged_in(params, changes=not check))
        of_system = {name: value for name, value in planned.items() if not name.startswith(BESIDE)}
        changes = settle_bmc(bmc, of_system, params["power_timeout_s"], check=check, **limits)
        if "event_destination" in planned:
            # Redfish's library costs half a second, which nodes over IPMI need not pay.
            from ansible_collections.coldaisle.site.plugins.module_utils.bmc_beside import (  # noqa: PLC0415
                settle_beside,
            )

            changes += settle_beside(params, planned, check=check)
        if not check:
            read_over(bmc, of_system, seen, {})
        return changes, seen


def _done(
    params: dict[str, Any], planned: dict[str, str], *, check: bool
) -> tuple[list[str], list[dict[str, Any]], dict[str, Any]]:
    """Let the managed account in, then settle; return what was done for the account, and what `_settled` returns."""
    machine = {name: planned[name] for name in IDENTITY if name in planned}
    steps = rotate_and_see(params, machine, check=check) if params["default_credentials"] else []
    if check and steps:  # the managed account does not let us in yet
        return steps, [], {}
    return steps, *_settled(params, planned, check=check)


def main() -> None:
    """Settle one BMC."""
    module = AnsibleModule(
        argument_spec={
            **ACCESS_OPTIONS,
            "facts": {"type": "dict", "required": True},
            "default_credentials": {"type": "str", "default": "", "no_log": False},
            "power_timeout_s": {"type": "float", "default": 60.0},
            "apply_timeout_s": {"type": "float", "default": 1200.0},
            "may_reset": {"type": "bool", "default": False},
            "why": {"type": "str", "default": "bring-up"},
        },
        supports_check_mode=True,
    )
    params = module.params
    planned = {name: text_of(value) for name, value in params["facts"].items()}
    try:
        steps, changes, seen = _done(params, planned, check=module.check_mode)
    except (BmcError, FactError) as error:
        module.fail_json(msg=f"BMC {params['address']} ({params['protocol']}): {error}")
    before = "".join(f"{change['fact']} = {change['seen']}\n" for change in changes)
    after = "".join([f"{it}\n" for it in steps] + [f"{it['fact']} = {it['planned']}\n" for it in changes])
    pending = [change["fact"] for change in changes if change.get("pending")]
    if pending:
        module.warn(f"{', '.join(pending)}: asked for, in force after a reset of the machine (may_reset allows it)")
    module.exit_json(
        changed=bool(steps) or any(change.get("sent", True) for change in changes),
        steps=steps,
        changes=changes,
        pending=pending,
        facts=seen,
        diff={"before": before, "after": after},
    )


if __name__ == "__main__":
    main()
