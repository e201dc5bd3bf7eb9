"""What a BMC measures, over Redfish (Sensors, or Thermal and Power before it) and IPMI. Read only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import ROOT, Service, link

OLDER = (
    ("Thermal", "Temperatures", "ReadingCelsius", "Cel"),
    ("Thermal", "Fans", "Reading", "RPM"),
    ("Power", "Voltages", "ReadingVolts", "V"),
    ("Power", "PowerSupplies", "PowerOutputWatts", "W"),
)
"""Resource, list, key of the value, and unit where the entry names none, of chassis without a Sensors collection."""

UNITS = {"°C": "Cel", "C": "Cel", "Watts": "W", "Volts": "V", "Percent": "%", "Amps": "A"}
"""Other spellings of units, in UCUM's, which Redfish writes."""

HEALTH = {"ok": "ok", "warning": "warning", "critical": "critical"}


@dataclass(frozen=True)
class Sensor:
    """One sensor: `value` is None where it measures nothing now; `health` is ok, warning, critical or unknown."""

    name: str
    value: float | None
    unit: str
    health: str
    states: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the sensor for programs."""
        return asdict(self)


def redfish_sensors(service: Service) -> list[Sensor]:
    """Return the sensors of every chassis of a BMC, each once."""
    found: dict[tuple[str, str], Sensor] = {}
    for chassis in service.members(link(service.get(ROOT), "Chassis")):
        for sensor in _of_chassis(service, chassis):
            found.setdefault((str(chassis.get("Id")), sensor.name), sensor)
    return list(found.values())


def _of_chassis(service: Service, chassis: dict[str, Any]) -> Iterator[Sensor]:
    newer = [_sensor(body, "Reading", "") for body in service.members(link(chassis, "Sensors"))]
    yield from newer
    if newer:
        return
    resources = {name: service.find(link(chassis, name)) or {} for name in ("Thermal", "Power")}
    for resource, entries, key, unit in OLDER:
        for body in resources[resource].get(entries) or []:
            yield _sensor(body, key, unit)


def _sensor(body: dict[str, Any], key: str, unit: str) -> Sensor:
    status = body.get("Status") or {}
    value = body.get(key)
    return Sensor(
        name=str(body.get("Name") or body.get("MemberId") or body.get("Id")),
        value=float(value) if isinstance(value, int | float) else None,
        unit=_unit(str(body.get("ReadingUnits") or unit)),
        health=HEALTH.get(str(status.get("Health")).lower(), "unknown"),
        states=(str(status["State"]),) if status.get("State") else (),
    )


def _unit(text: str) -> str:
    return UNITS.get(text, text)


def ipmi_sensor(reading: Any) -> Sensor:  # noqa: ANN401  # pyghmi carries no types
    """Return a reading of pyghmi; what is unavailable has no health to speak of."""
    from pyghmi.constants import Health  # noqa: PLC0415

    health = {Health.Ok: "ok", Health.Warning: "warning"}.get(reading.health, "critical")
    value = None if reading.unavailable else reading.value
    unit = _unit(str(reading.units or "").strip())
    states = tuple(str(state) for state in reading.states or ())
    return Sensor(str(reading.name), value, unit, "unknown" if reading.unavailable else health, states)
