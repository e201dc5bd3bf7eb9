"""
The names that a site defines, read before anything is validated.

So a reference to an unknown name is told together with every other mistake. What has the wrong shape is passed over
here; validation tells of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from coldaisle.spec.base import Names
from coldaisle.spec.catalog import Catalog
from coldaisle.spec.ranges import RangeError, expand

_SOURCES = {
    "system": "systems come from inventory/catalog and the site's catalog.yaml",
    "server": "servers are systems of the catalog with an architecture and a firmware",
    "switch": "switches come from inventory/catalog and the site's catalog.yaml",
    "cable": "cables come from inventory/catalog and the site's catalog.yaml",
    "optic": "transceivers come from inventory/catalog and the site's catalog.yaml",
    "adapter": "adapters are the nics of inventory/catalog and of the site's catalog.yaml",
    "gpu": "GPUs come from inventory/catalog and the site's catalog.yaml",
    "hall": "halls come from facility.halls",
    "rack": "racks come from facility.halls",
    "image": "images come from provisioning.images",
    "endpoint": "endpoints come from serving.endpoints",
    "node": "nodes come from node_pools",
    "pool": "pools come from node_pools",
    "device": "devices come from facility.devices",
}


_SECTIONS = {
    "hall": "facility",
    "rack": "facility",
    "image": "provisioning",
    "endpoint": "serving",
    "node": "node_pools",
    "pool": "node_pools",
    "device": "facility",
}


def names_of(data: Mapping[str, Any], catalog: Catalog | None, *, complete: bool) -> Names:
    """
    Return the names that the sections of a site define, by kind.

    Args:
        data: Sections as plain data, not validated.
        catalog: Hardware facts; None when the catalog itself is broken, so that no system counts as unknown.
        complete: Whether every file could be read. Where not, what an absent section would define is not known.
    """
    wanted = {kind: section for kind, section in _SECTIONS.items() if complete or section in data}
    found = {kind: _found(kind, data.get(section)) for kind, section in wanted.items()}
    by_kind = {kind: names for kind, names in found.items() if names is not None}
    if catalog is not None:
        by_kind |= {
            "system": frozenset(catalog.systems),
            "server": frozenset(name for name, system in catalog.systems.items() if system.is_server),
            "switch": frozenset(catalog.switches),
            "cable": frozenset(catalog.cables),
            "optic": frozenset(catalog.optics),
        }
    return Names(by_kind, _SOURCES)


def parts_of(*catalogs: Any) -> Names:  # noqa: ANN401 - not validated yet
    """Return the GPUs, adapters and systems of some catalogs together, which their entries may name."""
    kinds = {"gpu": "gpus", "adapter": "nics", "system": "systems"}
    return Names({kind: _keys(section, catalogs) for kind, section in kinds.items()}, _SOURCES)


def _keys(section: str, catalogs: Sequence[Any]) -> frozenset[str]:
    found = [catalog[section] for catalog in catalogs if isinstance(catalog, Mapping) and section in catalog]
    return frozenset(name for entries in found if isinstance(entries, Mapping) for name in entries)


def _maps(value: Any, key: str) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - not validated yet
    items = value.get(key) if isinstance(value, Mapping) else None
    yield from (item for item in items if isinstance(item, Mapping)) if isinstance(items, list) else ()


def _listed(section: Any, key: str) -> Iterator[str]:  # noqa: ANN401
    yield from (str(item["name"]) for item in _maps(section, key) if "name" in item)


def _racks(facility: Any) -> Iterator[str]:  # noqa: ANN401
    for hall in _maps(facility, "halls"):
        for row in _maps(hall, "rows"):
            for pattern in _listed(row, "racks"):
                yield from expand(pattern)


def _nodes(pools: Any) -> Iterator[str]:  # noqa: ANN401
    for pool in pools.values() if isinstance(pools, Mapping) else ():
        nodes = pool.get("nodes") if isinstance(pool, Mapping) else None
        for pattern in nodes if isinstance(nodes, Mapping) else ():
            yield from expand(pattern)


def _found(kind: str, section: Any) -> frozenset[str] | None:  # noqa: ANN401
    """Return the names of a kind, or None where a broken range hides some of them."""
    try:
        return frozenset(_FINDERS[kind](section))
    except RangeError:
        return None


_FINDERS: dict[str, Callable[[Any], Iterator[str]]] = {
    "hall": lambda section: _listed(section, "halls"),
    "rack": _racks,
    "image": lambda section: _listed(section, "images"),
    "endpoint": lambda section: _listed(section, "endpoints"),
    "node": _nodes,
    "pool": lambda section: iter(section if isinstance(section, Mapping) else ()),
    "device": lambda section: _listed(section, "devices"),
}
