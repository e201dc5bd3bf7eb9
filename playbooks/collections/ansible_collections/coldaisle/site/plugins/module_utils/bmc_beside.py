"""Facts of a BMC that its system does not show: versions of its firmware, and where its events go. Redfish only."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_events import destination, subscribe
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_firmware import versions
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import Service
from ansible_collections.coldaisle.site.plugins.module_utils.host import Value
from ansible_collections.coldaisle.site.plugins.module_utils.secrets import read_credentials

FIRMWARE = "firmware."
EVENTS = "event_destination"


def service_of(params: Mapping[str, Any]) -> Service:
    """
    Return the Redfish service that a module's parameters name.

    Raises:
        BmcError: the BMC speaks IPMI.
        FactError: the credentials cannot be read.

    """
    if params["protocol"] != "redfish":
        raise BmcError("no-redfish", "over IPMI a BMC shows neither firmware nor events", "bmc_protocol of the node")
    username, password = read_credentials(params["credentials"])
    timeout_s = params.get("timeout_s") or 20.0
    return Service(Access(params["address"], username, password, params.get("ca_file"), timeout_s))


def read_beside(params: Mapping[str, Any], names: Iterable[str]) -> tuple[dict[str, Value], dict[str, str]]:
    """Return these facts, and for each other one why not; the caller holds a connection."""
    wanted, seen, errors = list(names), dict[str, Value](), dict[str, str]()
    try:
        with contextlib.closing(service_of(params)) as service:
            if any(name.startswith(FIRMWARE) for name in wanted):
                seen |= {f"{FIRMWARE}{item}": version for item, version in versions(service).items()}
            if EVENTS in wanted:
                seen[EVENTS] = destination(service)
    except BmcError as error:
        errors = {name: str(error) for name in wanted if name not in seen}
    known = ", ".join(sorted(seen)) or "none"
    missing = {name: f"the BMC has no {name}; it shows {known}" for name in wanted if name not in seen}
    return {name: seen[name] for name in wanted if name in seen}, missing | errors


def settle_beside(params: Mapping[str, Any], planned: Mapping[str, str], *, check: bool) -> list[dict[str, str]]:
    """
    Send events where the plan says; firmware has a play of its own. Return what did not fit at first.

    Raises:
        BmcError: as `service_of`, `destination` and `subscribe`.
        FactError: as `service_of`.

    """
    if EVENTS not in planned:
        return []
    with contextlib.closing(service_of(params)) as service:
        seen = destination(service)
        if seen == planned[EVENTS]:
            return []
        if not check:
            subscribe(service, planned[EVENTS])
        return [{"fact": EVENTS, "seen": seen, "planned": planned[EVENTS]}]
