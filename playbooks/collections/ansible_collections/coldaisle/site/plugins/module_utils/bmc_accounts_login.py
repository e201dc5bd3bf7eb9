"""Rotation by references: reads both credentials at the moment of use, and takes the protocol that the BMC speaks."""

from __future__ import annotations

import contextlib
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts import Login, rotate
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
