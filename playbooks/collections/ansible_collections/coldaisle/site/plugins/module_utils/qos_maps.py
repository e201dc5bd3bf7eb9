"""
The maps of QoS that a switch's chip follows, whatever its configuration says, in one spelling.

A configuration can be empty while the chip still has its map, and a map can be written down that the chip never took.
Standard library only, and no module of ours: switches run it, and the plan's side loads the same file.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

NONE = "none"
"""No map is in effect, or no priority has PFC."""

DSCP_MAP, PORT_PFC = "QOS_DSCP_TO_TC_MAP", "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL"
NO_OBJECT = frozenset({"oid:0x0", ""})


def dscp_text(priorities: Mapping[int, int]) -> str:
    """
    Return a map of DSCPs to priorities as text: `3: 26; 6: 48-50`.

    Priority 0 is left out: it is best effort, which every DSCP has that a map does not name.
    """
    marks: dict[int, list[int]] = {}
    for mark, priority in sorted(priorities.items()):
        marks.setdefault(priority, []).append(mark)
    classes = sorted(marks.items())
    return "; ".join(f"{priority}: {_ranges(found)}" for priority, found in classes if priority) or NONE


def priorities_text(priorities: Iterable[int]) -> str:
    """Return priorities that have PFC: `3`, `3,4`, or `none`."""
    return ",".join(map(str, sorted(set(priorities)))) or NONE


def _ranges(marks: list[int]) -> str:
    """Return sorted numbers with each run of them as one range."""
    runs: list[list[int]] = []
    for mark in marks:
        if runs and mark == runs[-1][-1] + 1:
            runs[-1].append(mark)
        else:
            runs.append([mark])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


# -- SONiC ------------------------------------------------------------------------------------------------------
def of_sonic(objects: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """
    Return what the chip has, from SONiC's ASIC_DB, which holds what SONiC's daemon has given to it.

    Args:
        objects: Its QoS maps, ports and switch, by key, each with its attributes. A map of a port wins over the
            switch's; where ports have several, all are told.
    """
    ports = [fields for key, fields in objects.items() if ":SAI_OBJECT_TYPE_PORT:" in key]
    switches = [fields for key, fields in objects.items() if ":SAI_OBJECT_TYPE_SWITCH:" in key]
    bound = _bound(ports, "PORT") or _bound(switches, "SWITCH")
    maps = {key.partition("_QOS_MAP:")[2]: fields for key, fields in objects.items() if "_QOS_MAP:" in key}
    pfc = {int(fields.get(PORT_PFC) or 0) for fields in ports} - {0}
    return {
        "dscp": " | ".join(sorted(dscp_text(_sonic_map(maps.get(name, {}))) for name in bound)) or NONE,
        "pfc": " | ".join(sorted(priorities_text(_bits(bitmap)) for bitmap in pfc)) or NONE,
    }


def _bound(owners: list[Mapping[str, Any]], kind: str) -> set[str]:
    return {str(fields.get(f"SAI_{kind}_ATTR_{DSCP_MAP}") or "") for fields in owners} - NO_OBJECT


def _sonic_map(fields: Mapping[str, Any]) -> dict[int, int]:
    listed = json.loads(fields.get("SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST") or "{}").get("list") or []
    return {int(one["key"]["dscp"]): int(one["value"]["tc"]) for one in listed}


def _bits(bitmap: int) -> list[int]:
    return [bit for bit in range(8) if bitmap >> bit & 1]


# -- Cumulus Linux ----------------------------------------------------------------------------------------------
def of_cumulus(roce: Mapping[str, Any], rows: Mapping[str, Any]) -> dict[str, str]:
    """
    Return what switchd has given to the chip, from NVUE's operational view of `qos roce` and of its `prio-map`.

    Args:
        roce: The former.
        rows: The latter: rows of DSCPs and the switch priority that they have, by number or (`cnp`, `roce`) by name.
    """
    found = {
        mark: priority
        for row in rows.values()
        for priority in _numbers(row.get("switch-prio"))
        for mark in _numbers(row.get("dscp"))
    }
    return {"dscp": dscp_text(found), "pfc": priorities_text(_numbers((roce.get("pfc") or {}).get("pfc-priority")))}


def _numbers(value: Any) -> list[int]:  # noqa: ANN401 - JSON: a number, a list of them, or text with commas
    return [int(number) for number in re.findall(r"\d+", json.dumps(value))]


# -- EOS --------------------------------------------------------------------------------------------------------
def of_eos(text: str) -> dict[str, str]:
    """
    Return the map of DSCPs to traffic classes from the text of EOS's `show qos maps`.

    It is a table of tens (`d1`) by units (`d2`).

    Raises:
        ValueError: there is no such table.
    """
    _, mark, table = text.partition("Dscp-tc map:")
    if not mark:
        raise ValueError("EOS's `show qos maps` shows no Dscp-tc map")
    found: dict[int, int] = {}
    for line in table.splitlines()[1:]:
        row = re.fullmatch(r"\s*(\d)\s*:\s*((?:\d+\s*)+)", line)
        if row:
            found |= {10 * int(row[1]) + units: int(value) for units, value in enumerate(row[2].split())}
        elif found:
            break
    return {"dscp": dscp_text(found)}
