"""Settling firmware by a module's parameters: images checked, turns taken, items updated in their order."""

from __future__ import annotations

import contextlib
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc_beside import service_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_firmware import Updater, Wanted
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_images import check_image
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_lease import power_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_settle import see_machine
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_slots import CONNECTIONS, connection
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_turns import turn

WAIT_S = 4 * 3600.0
"""How long a machine waits for the turn of its failure domain: some domains with some updates each."""


def settle_firmware(params: dict[str, Any], *, check: bool) -> list[dict[str, str]]:
    """
    Bring a BMC's firmware to the wanted versions; return what did not fit at first.

    Raises:
        BmcError: as `see_machine`, `different`, `check_image`, `turn`, `power_of` and `Updater.update`.
        FactError: the credentials cannot be read.

    """
    see_machine(params, params.get("machine") or {})
    wanted = [Wanted(it["name"], it["version"], it["image"], it.get("target")) for it in params["items"]]
    digests = {it["image"]: it["sha256"] for it in params["items"]}
    with contextlib.closing(service_of(params)) as service:
        updater = Updater(service, params["address"], params["update_timeout_s"])
        with _held(params, changes=False):
            found = updater.different(wanted)
        changes = [{"fact": f"firmware.{it.name}", "seen": seen, "planned": it.version} for it, seen in found]
        if not check and not found:
            updater.forget_done()
        if check or not found:
            return changes
        for item, _seen in found:
            check_image(item.image, digests[item.image], params.get("ca_file"))
        with contextlib.ExitStack() as stack:
            stack.enter_context(turn("firmware", params["domain"], params["member"], WAIT_S))
            stack.enter_context(power_of(params["address"], "firmware update"))
            stack.enter_context(_held(params, changes=True))
            # Looked at anew: while we waited for our turn somebody else may have done it.
            for item, _seen in updater.different(wanted):
                updater.update(item)
    return changes


def _held(params: dict[str, Any], *, changes: bool) -> contextlib.AbstractContextManager[None]:
    return connection(params["address"], changes=changes, limit=params.get("connections") or CONNECTIONS)
