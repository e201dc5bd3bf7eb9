"""The event log of a BMC as a fact: its newest entries since a time, as JSON, over the connection that is open."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Bmc, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_beside import service_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log import Entry, ipmi_entry, newest, redfish_log

NEWEST = 500
"""Entries that are sent; IPMI's log holds a few thousand, and each is a command."""


def event_log(params: Mapping[str, Any], bmc: Bmc, since: str) -> str:
    """
    Return the entries after a time (ISO 8601, empty: all), the newest last.

    Raises:
        BmcError: the BMC has no log that we read, or refuses.

    """
    if params["protocol"] == "redfish":
        with contextlib.closing(service_of(params)) as service:
            found = redfish_log(service, NEWEST)
    else:
        if not hasattr(bmc, "events"):
            raise BmcError("no-log", "the BMC has no event log over IPMI", "bmc_protocol of the node")
        found = newest((_zoned(ipmi_entry(event)) for event in bmc.events()), NEWEST)
    return json.dumps([entry.as_json() for entry in found if entry.at > since])


def _zoned(entry: Entry) -> Entry:
    """Give a time its zone: pyghmi's are of this host's, and do not say so."""
    try:
        at = datetime.fromisoformat(entry.at).astimezone().isoformat()
    except ValueError:
        return entry
    return Entry(at, entry.severity, entry.text, entry.source)
