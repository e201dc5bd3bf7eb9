"""Rotation by references: reads both credentials at the moment of use, and takes the protocol that the BMC speaks."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts import Login, rotate
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_settle import NOTHING, see_machine
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_slots import CONNECTIONS, connection
from ansible_collections.coldaisle.site.plugins.module_utils.secrets import read_credentials


def rotate_bmc(params: dict[str, Any], *, check: bool) -> list[str]:
    """
    Rotate a BMC's credentials; return what was done, or would be.

    Raises:
        BmcError: as `rotate`, or no connection to the BMC became free.
        FactError: a reference cannot be read.

    """
    old, managed = (_access(params, reference) for reference in ("default_credentials", "credentials"))
    limit = params.get("connections") or CONNECTIONS
    with contextlib.ExitStack() as stack:
        # A login that is proved stands beside the one that it is proved from.
        for number in range(min(limit, 2)):
            stack.enter_context(connection(params["address"], changes=number == 0, limit=limit))
        return rotate(_login(params["protocol"]), old, managed, check=check)


def rotate_and_see(params: dict[str, Any], machine: Mapping[str, str], *, check: bool) -> list[str]:
    """
    Rotate, then see over the managed account whose BMC it is: with the default one, which all have, any would let in.

    Check mode sees it only where the managed account lets in already. Return what `rotate_bmc` returns.

    Raises:
        BmcError: as `rotate_bmc`, or the BMC belongs to another machine.
        FactError: as `rotate_bmc`.

    """
    steps = rotate_bmc(params, check=check)
    if not (steps and check):
        see_machine(params, machine, "nothing but its accounts was changed" if steps else NOTHING)
    return steps


def _access(params: dict[str, Any], reference: str) -> Access:
    username, password = read_credentials(params[reference])
    return Access(params["address"], username, password, params.get("ca_file"), params.get("timeout_s") or 20.0)


def _login(protocol: str) -> Login:
    if protocol == "redfish":
        from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts_redfish import (  # noqa: PLC0415
            RedfishAccounts,
        )

        return RedfishAccounts
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts_ipmi import IpmiAccounts  # noqa: PLC0415

    return IpmiAccounts
