"""
Where a BMC sends its events: a subscription of Redfish's EventService, as one setting that is read back.

Ours is known by its context; subscriptions of others are left alone. A subscription is not changed but made anew: its
destination cannot be written (DSP2046, EventDestination).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import ROOT, Service, link

CONTEXT = "coldaisle"
NONE = "none"


def destination(service: Service) -> str:
    """Return where events of ours go, `none` without a subscription; several are told in order, by commas."""
    return ",".join(sorted(str(it.get("Destination")) for it in _ours(service))) or NONE


def subscribe(service: Service, url: str) -> None:
    """
    Send events to `url`, and take subscriptions of ours that go elsewhere away.

    The new one is made first: events that come in between go to both.

    Raises:
        BmcError: the BMC has no EventService, refuses, or shows something else afterwards.

    """
    old = list(_ours(service))
    if not any(it.get("Destination") == url for it in old):
        body = {"Destination": url, "Protocol": "Redfish", "Context": CONTEXT}
        service.post(_folder(service), body)
    kept = False
    for it in old:
        if it.get("Destination") == url and not kept:
            kept = True
        else:
            service.delete(it["@odata.id"])
    seen = destination(service)
    if seen != url:
        raise BmcError(
            "not-kept", f"the BMC took event destination {url} and shows {seen}", "the BMC's firmware version"
        )


def _ours(service: Service) -> Iterator[dict[str, Any]]:
    return (it for it in service.members(_folder(service)) if it.get("Context") == CONTEXT)


def _folder(service: Service) -> str:
    folder = link(service.find(link(service.get(ROOT), "EventService")), "Subscriptions")
    if folder is None:
        raise BmcError(
            "no-events", "the BMC has no EventService", "bmc_event_destination of the site, the BMC's firmware"
        )
    return folder
