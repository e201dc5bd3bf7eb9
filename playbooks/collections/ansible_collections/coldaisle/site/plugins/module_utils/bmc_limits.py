"""
The power limit of a chassis over Redfish.

Two resources of the standard have one: EnvironmentMetrics (since 2020.4) and Power, which it took the place of. sushy
knows the chassis, and neither of the limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sushy
import sushy.exceptions
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError

NOT_A_MACHINE = {"Card", "Cartridge", "Component", "Expansion", "IPBasedDrive", "Module", "StorageEnclosure", "Zone"}
"""Types of chassis that are a part of a machine or something beside it: their limits are not the machine's."""

NONE = "none"
OFF = "Disabled"
"""ControlMode of a limit that is not in force."""


@dataclass(frozen=True)
class Limit:
    """A limit as one resource shows it: where it is set, what it is, and what it may be."""

    path: str
    etag: str | None
    watts: float | None
    lowest_w: float | None
    highest_w: float | None
    newer: bool
    mode: str | None = None

    @property
    def reading(self) -> str:
        """Return the watts in the plan's form, or `none` where there is no limit or it is not in force."""
        if self.watts is None or self.mode == OFF:
            return NONE
        return str(int(self.watts)) if float(self.watts).is_integer() else str(self.watts)

    def check(self, watts: int) -> None:
        """
        Refuse what the BMC says that it does not take.

        Raises:
            BmcError: fewer or more watts than it allows.

        """
        if (self.lowest_w or 0) <= watts and (self.highest_w is None or watts <= self.highest_w):
            return
        bounds = f"{_bound(self.lowest_w)} to {_bound(self.highest_w)} W"
        raise BmcError(
            "limit-out-of-range",
            f"the plan wants {watts} W, and {self.path} takes {bounds}",
            "power_cap of the node's pool",
        )

    def change(self, watts: int) -> dict[str, Any]:
        """Return the body of a PATCH; a limit that is not in force is put in force."""
        if not self.newer:
            return {"PowerControl": [{"PowerLimit": {"LimitInWatts": watts}}]}
        return {"PowerLimitWatts": {"SetPoint": watts} | ({"ControlMode": "Automatic"} if self.mode == OFF else {})}


def _bound(watts: float | None) -> str:
    return "any" if watts is None else f"{watts:g}"


def find_limit(connector: sushy.connector.Connector, system: Any, root: Any) -> Limit:  # noqa: ANN401  # sushy's own
    """
    Return the limit of the machine's chassis, by the newer resource where the BMC has that.

    Raises:
        BmcError: no chassis of the machine has a limit that can be set.

    """
    seen = []
    for chassis in _chassis(system, root):
        for limit in _limits(connector, chassis.json):
            return limit
        has = [name for name in ("EnvironmentMetrics", "Power") if _path(chassis.json, name)]
        seen.append(f"{chassis.path} with {' and '.join(has) or 'neither resource'}")
    raise BmcError(
        "no-power-limit",
        f"no chassis has EnvironmentMetrics.PowerLimitWatts or PowerControl[0].PowerLimit; "
        f"have: {'; '.join(seen) or 'no chassis'}",
        "a newer firmware of the BMC, or take power_cap from the node's pool",
    )


def _chassis(system: Any, root: Any) -> Iterator[Any]:  # noqa: ANN401  # sushy's own
    """Yield the chassis that the system names, or all where it names none, without those that are a part of one."""
    try:
        found = system.chassis
    except sushy.exceptions.MissingAttributeError:
        found = []
    for chassis in found or root.get_chassis_collection().get_members():
        if chassis.json.get("ChassisType") not in NOT_A_MACHINE:
            yield chassis


def _limits(connector: sushy.connector.Connector, chassis: dict[str, Any]) -> Iterator[Limit]:
    """Yield the limits of a chassis, the newer kind first."""
    path, body, etag = _resource(connector, chassis, "EnvironmentMetrics")
    newer = body.get("PowerLimitWatts") or {}
    if "SetPoint" in newer:
        bounds = newer.get("AllowableMin"), newer.get("AllowableMax")
        yield Limit(path, etag, newer["SetPoint"], *bounds, newer=True, mode=newer.get("ControlMode"))
    path, body, etag = _resource(connector, chassis, "Power")
    older = (body.get("PowerControl") or [{}])[0]
    if "PowerLimit" in older:
        watts = (older["PowerLimit"] or {}).get("LimitInWatts")
        yield Limit(path, etag, watts, None, older.get("PowerCapacityWatts") or None, newer=False)


def _resource(
    connector: sushy.connector.Connector, chassis: dict[str, Any], name: str
) -> tuple[str, dict[str, Any], str | None]:
    """Return a resource of a chassis with its path and its ETag, empty where the BMC has none behind the link."""
    path = _path(chassis, name)
    if not path:
        return "", {}, None
    try:
        answer = connector.get(path)
    except sushy.exceptions.ResourceNotFoundError:
        return path, {}, None
    return path, answer.json(), answer.headers.get("ETag")


def _path(chassis: dict[str, Any], name: str) -> str | None:
    return (chassis.get(name) or {}).get("@odata.id")
