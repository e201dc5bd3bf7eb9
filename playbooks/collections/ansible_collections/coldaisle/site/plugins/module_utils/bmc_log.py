"""What a BMC has logged, over Redfish's LogServices and IPMI's system event log. Read only: nothing is cleared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import ROOT, Service, link

OWNERS = ("Systems", "Managers", "Chassis")
SEVERITIES = {"ok": "ok", "warning": "warning", "critical": "critical"}


@dataclass(frozen=True)
class Entry:
    """One entry: `at` is the BMC's own time, in ISO 8601 where it gives one; `source` is the log that has it."""

    at: str
    severity: str
    text: str
    source: str

    def as_json(self) -> dict[str, Any]:
        """Return the entry for programs."""
        return asdict(self)


def redfish_log(service: Service, last: int) -> list[Entry]:
    """Return the newest entries of all logs of a BMC, the newest last. A log without entries is passed over."""
    root = service.get(ROOT)
    found: list[Entry] = []
    for owner in OWNERS:
        for resource in service.members(link(root, owner)):
            for log in service.members(link(resource, "LogServices")):
                source = f"{resource.get('Id')}/{log.get('Id')}"
                found += [_entry(body, source) for body in service.members(link(log, "Entries"))]
    return newest(found, last)


def newest(entries: Iterable[Entry], last: int) -> list[Entry]:
    """Return the newest entries, the newest last; what has no time counts as the oldest."""
    return sorted(entries, key=lambda entry: entry.at)[-last:]


def _entry(body: dict[str, Any], source: str) -> Entry:
    text = body.get("Message") or body.get("MessageId") or body.get("Name") or ""
    at = str(body.get("Created") or body.get("EventTimestamp") or "")
    return Entry(at, SEVERITIES.get(str(body.get("Severity")).lower(), "unknown"), str(text), source)


def ipmi_entry(event: dict[str, Any]) -> Entry:
    """Return an event of pyghmi; events of a system that could not tell the time have its raw count."""
    from pyghmi.constants import Health  # noqa: PLC0415

    severity = {Health.Ok: "ok", Health.Warning: "warning"}.get(event.get("severity"), "critical")
    words = [event.get("component"), event.get("event"), event.get("event_data")]
    text = ": ".join(str(word) for word in words if word)
    return Entry(str(event.get("timestamp") or event.get("timecode") or ""), severity, text, "SEL")
