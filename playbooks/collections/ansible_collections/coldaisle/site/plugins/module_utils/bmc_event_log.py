"""The event log of a BMC as a fact: what is new in it, as JSON, over the connection that is open."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Bmc, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_beside import service_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log_redfish import redfish_unread


def event_log(params: Mapping[str, Any], bmc: Bmc, cursor: str) -> str:
    """
    Return what was logged after a cursor, with the next one (see bmc_unread); without a cursor all that there is.

    Raises:
        BmcError: the BMC has no log that we read, or refuses.

    """
    marks = _marks(cursor)
    if params["protocol"] == "redfish":
        with contextlib.closing(service_of(params)) as service:
            return redfish_unread(service, marks).as_json()
    # Only where a BMC speaks IPMI, since its library takes its time to load.
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc  # noqa: PLC0415
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_sel import sel_unread  # noqa: PLC0415

    if not isinstance(bmc, IpmiBmc):
        raise BmcError("no-log", "the BMC has no event log over IPMI", "bmc_protocol of the node")
    return sel_unread(bmc, marks).as_json()


def _marks(cursor: str) -> dict[str, Any]:
    """Return what a cursor marks; one of an older release is a time, and marks nothing."""
    try:
        found = json.loads(cursor)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
