"""The cables in the forms that other programs read: a label printer, PTM, NetBox, and whatever takes JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from coldaisle.render.cabling.rows import Pack, Plug, Row

LABEL_COLUMNS = ("label", "near", "far", "cable", "fabric", "rate_gbps", "length_m", "code", "plan")
NETBOX_COLUMNS = (
    "side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name", "status", "label",
    "length", "length_unit", "description",
)  # fmt: skip
INTERFACE = "dcim.interface"


def table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return CSV with a head."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def plugs(pack: Pack) -> list[tuple[Row, Plug]]:
    """Return both ends of every cable in the order in which a technician walks: by place, from the top down."""
    return sorted(((row, plug) for row in pack.rows for plug in (row.a, row.b)), key=lambda each: each[1].sorting)


def code(pack: Pack, row: Row) -> str:
    """Return what a cable's QR code says: the site, the cable, and the beginning of the plan's hash."""
    return f"{pack.site} {row.identifier} {pack.digest[:12]}"


def labels_csv(pack: Pack) -> str:
    """Return two labels a cable for a label printer, sorted by where they are stuck on."""
    return table(LABEL_COLUMNS, (_label(pack, row, plug) for row, plug in plugs(pack)))


def _label(pack: Pack, row: Row, near: Plug) -> tuple[object, ...]:
    far = row.b if near is row.a else row.a
    facts = (row.identifier, row.fabric.name, f"{row.cable.rate_gbps:g}", _metres(row))
    return row.label(near), near.identifier, far.identifier, *facts, code(pack, row), pack.digest


def _metres(row: Row) -> str:
    return "" if row.cable.length_m is None else f"{row.cable.length_m:g}"


def netbox_csv(pack: Pack) -> str:
    """Return the cables for NetBox's import of cables."""
    return table(NETBOX_COLUMNS, (_netbox(pack, row) for row in pack.rows))


def _netbox(pack: Pack, row: Row) -> tuple[str, ...]:
    sides = (part for plug in (row.a, row.b) for part in (plug.device, INTERFACE, plug.port))
    unit = "" if row.cable.length_m is None else "m"
    return (*sides, "planned", row.label(row.a), _metres(row), unit, f"{row.fabric.name}, plan {pack.digest}")


def ptm_dot(pack: Pack) -> str:
    """Return the links for Cumulus' Prescriptive Topology Manager; an InfiniBand link is none of its."""
    lines = [
        f'    "{row.a.device}":"{row.a.port}" -- "{row.b.device}":"{row.b.port}"'
        for row in pack.rows
        if row.fabric.kind != "infiniband"
    ]
    return "\n".join([f"// {pack.origin}", f'graph "{pack.site}" {{', *lines, "}", ""])


def cables_json(pack: Pack) -> str:
    """Return the cables as JSON, with lengths in their parts."""
    cables = [_as_json(row) for row in pack.rows]
    whole = {"schema_version": "1", "site": pack.site, "plan": pack.digest, "cables": cables}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _as_json(row: Row) -> dict[str, Any]:
    return {
        "cable": row.identifier,
        "fabric": row.fabric.name,
        "kind": row.cable.kind,
        "rail": row.cable.rail,
        "rate_gbps": row.cable.rate_gbps,
        "length_m": row.cable.length_m,
        "run": None if row.run is None else {key: round(value, 3) for key, value in asdict(row.run).items()},
        "a": {**asdict(row.a), "label": row.label(row.a)},
        "b": {**asdict(row.b), "label": row.label(row.b)},
    }
