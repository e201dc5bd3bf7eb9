"""What a BMC has logged, over Redfish's LogServices and IPMI's system event log. Read only: nothing is cleared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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


@dataclass(frozen=True)
class RedfishLog:
    """A log service: `service` is its resource, `owner` the system, manager or chassis that has it."""

    owner: dict[str, Any]
    service: dict[str, Any]

    @property
    def source(self) -> str:
        """What its entries are said to be from."""
        return f"{self.owner.get('Id')}/{self.service.get('Id')}"

    @property
    def entries(self) -> str | None:
        """The path of its entries, None for a log without any."""
        return link(self.service, "Entries")


def redfish_logs(service: Service) -> Iterator[RedfishLog]:
    """Yield all logs of a BMC."""
    root = service.get(ROOT)
    for kind in OWNERS:
        for owner in service.members(link(root, kind)):
            yield from (RedfishLog(owner, log) for log in service.members(link(owner, "LogServices")))


def redfish_log(service: Service, last: int) -> list[Entry]:
    """Return the newest entries of all logs of a BMC, the newest last. A log without entries is passed over."""
    logs = redfish_logs(service)
    return newest((redfish_entry(body, log.source) for log in logs for body in service.members(log.entries)), last)


def newest(entries: Iterable[Entry], last: int) -> list[Entry]:
    """Return the newest entries, the newest last; what has no time counts as the oldest."""
    return sorted(entries, key=lambda entry: entry.at)[-last:]


def redfish_entry(body: dict[str, Any], source: str) -> Entry:
    """Return an entry of Redfish."""
    text = body.get("Message") or body.get("MessageId") or body.get("Name") or ""
    at = str(body.get("Created") or body.get("EventTimestamp") or "")
    return Entry(at, SEVERITIES.get(str(body.get("Severity")).lower(), "unknown"), str(text), source)


def ipmi_entry(event: dict[str, Any]) -> Entry:
    """Return an event of pyghmi; events of a system that could not tell the time have its raw count."""
    from pyghmi.constants import Health  # noqa: PLC0415

    severity = {Health.Ok: "ok", Health.Warning: "warning"}.get(event.get("severity"), "critical")
    text = ": ".join(str(word) for word in (_sensor(event), event.get("event"), event.get("event_data")) if word)
    return Entry(str(event.get("timestamp") or event.get("timecode") or ""), severity, text, "SEL")


def _sensor(event: dict[str, Any]) -> str:
    """Return a sensor with its type, which a name like `P1-A1` does not tell."""
    name, kind = str(event.get("component") or ""), str(event.get("component_type") or "")
    return f"{name} ({kind})" if name and kind.lower() not in name.lower() else name or kind
