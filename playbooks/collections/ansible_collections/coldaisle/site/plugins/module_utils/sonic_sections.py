"""
A configuration of SONiC as sections of its tables, so that a planned and a running one can be compared.

Standard library only, and no module of ours: switches run it, and the plan's side loads the same file.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

OURS = frozenset(
    """
    BGP_GLOBALS BGP_GLOBALS_AF BGP_GLOBALS_AF_NETWORK BGP_GLOBALS_EVPN_VNI BGP_NEIGHBOR BGP_NEIGHBOR_AF BREAKOUT_CFG
    CABLE_LENGTH DHCPV4_RELAY DSCP_TO_TC_MAP INTERFACE LLDP LOOPBACK_INTERFACE MAP_PFC_PRIORITY_TO_QUEUE MGMT_INTERFACE
    MGMT_VRF_CONFIG PFC_PRIORITY_TO_PRIORITY_GROUP_MAP PORT PORTCHANNEL PORTCHANNEL_MEMBER PORT_QOS_MAP QUEUE ROUTE_MAP
    ROUTE_MAP_SET ROUTE_REDISTRIBUTE SAG SCHEDULER STATIC_ROUTE SUPPRESS_VLAN_NEIGH TC_TO_PRIORITY_GROUP_MAP
    TC_TO_QUEUE_MAP VLAN VLAN_INTERFACE VLAN_MEMBER VRF VXLAN_EVPN_NVO VXLAN_TUNNEL VXLAN_TUNNEL_MAP WRED_PROFILE
    """.split()  # noqa: SIM905 - a line a table would be a page
)
"""Tables that are the fabric's: a row of them is a section, and one that no plan has is unplanned."""

SHARED = frozenset({"BUFFER_PG", "DEVICE_METADATA", "FEATURE"})
"""
Tables of which the fabric has some fields only: each field is a section, and no other field is anybody's business.

All other tables belong to the installation: users, time, logs, the platform's buffer pools.
"""

PORT_FIELDS = frozenset({"admin_status", "alias", "description", "index", "lanes", "mtu", "speed"})
"""What the fabric says of a port; the rest (FEC, negotiation …) is the platform's."""


def sections(text: str) -> dict[str, str]:
    """Return the fabric's sections of a config_db.json, as `sections_of` does of its tables."""
    return sections_of(json.loads(text))


def sections_of(tables: Mapping[str, Any]) -> dict[str, str]:
    """
    Return the fabric's sections, `TABLE|row` with its fields, sorted, one a line; of a shared table `TABLE|row|field`.

    A row without fields has its name.
    """
    found: dict[str, str] = {}
    for table, rows in tables.items():
        for row, fields in rows.items() if table in OURS | SHARED else ():
            if table in SHARED:
                found |= {f"{table}|{row}|{name}": _text(value) for name, value in fields.items()}
                continue
            lines = sorted(f"{name}: {_text(value)}" for name, value in fields.items() if _is_said(table, name))
            found[f"{table}|{row}"] = "\n".join(lines) or f"{table}|{row}"
    return found


def listed(found: Iterable[str]) -> list[str]:
    """Return the names of sections that are the fabric's alone: those of a shared table come and go by others too."""
    return sorted(name for name in found if name.partition("|")[0] not in SHARED)


def merged(running: Mapping[str, Any], planned: Mapping[str, Any], *, keep_extra: bool) -> dict[str, Any]:
    """Return the whole configuration with the plan's rows in it: what `config replace` takes, without empty tables."""
    whole = {table: dict(rows) for table, rows in running.items()}
    for table in OURS:
        rows = dict(planned.get(table, {}))
        before = running.get(table, {})
        extra = {row: fields for row, fields in before.items() if row not in rows} if keep_extra else {}
        if table == "PORT":
            rows = {row: {**_platforms(before.get(row, {})), **fields} for row, fields in rows.items()}
        whole[table] = {**extra, **rows}
    for table in SHARED:
        for row, fields in planned.get(table, {}).items():
            whole.setdefault(table, {})[row] = {**whole.get(table, {}).get(row, {}), **fields}
    return {table: rows for table, rows in whole.items() if rows}


def _platforms(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in PORT_FIELDS}


def _is_said(table: str, field: str) -> bool:
    """Tell whether a field counts; SONiC writes NULL into a row that has none."""
    return field != "NULL" and (table != "PORT" or field in PORT_FIELDS)


def _text(value: Any) -> str:  # noqa: ANN401 - JSON
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
