"""New nodes as lines of node_pools.yaml: names in ranges where racks of consecutive numbers are filled alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise

from coldaisle.proposal.records import NewNode
from coldaisle.spec.node_pools import Place, PoolSpec, placed_nodes
from coldaisle.spec.ranges import RangeError

Line = Mapping[str, object]
_NUMBERED = re.compile(r"(.*?)(\d+)")


def node_lines(nodes: Iterable[NewNode]) -> dict[str, Line]:
    """
    Return nodes of one pool as the keys and places of `nodes` in a pool.

    Whatever is written stands for exactly these nodes: a range that would mean anything else is written out.
    """
    by_rack = {rack: list(those) for rack, those in groupby(nodes, key=lambda node: node.rack)}
    lines: dict[str, Line] = {}
    for racks in _runs(by_rack):
        lines |= _lines_of(racks, by_rack)
    return lines


def _runs(by_rack: Mapping[str, Sequence[NewNode]]) -> list[list[str]]:
    """Return racks in runs of consecutive numbers that are filled alike."""
    runs: list[list[str]] = []
    for rack in by_rack:
        if runs and _follows(runs[-1][-1], rack) and _shape(by_rack[runs[-1][-1]]) == _shape(by_rack[rack]):
            runs[-1].append(rack)
        else:
            runs.append([rack])
    return runs


def _follows(before: str, after: str) -> bool:
    first, second = _NUMBERED.fullmatch(before), _NUMBERED.fullmatch(after)
    if first is None or second is None or first[1] != second[1]:
        return False
    return len(first[2]) == len(second[2]) and int(first[2]) + 1 == int(second[2])


def _shape(nodes: Sequence[NewNode]) -> list[tuple[str, int]]:
    return [(node.name.removeprefix(node.rack), node.rack_unit) for node in nodes]


def _lines_of(racks: Sequence[str], by_rack: Mapping[str, Sequence[NewNode]]) -> dict[str, Line]:
    """Return a run of racks as one line, or as one for each node where no range says it."""
    nodes = [node for rack in racks for node in by_rack[rack]]
    ranged = _ranged(racks, by_rack[racks[0]])
    if ranged is not None and _means(ranged, nodes):
        return ranged
    if len(racks) > 1:
        return {key: line for rack in racks for key, line in _lines_of([rack], by_rack).items()}
    return {node.name: {"rack": node.rack, "rack_unit": node.rack_unit} for node in nodes}


def _ranged(racks: Sequence[str], nodes: Sequence[NewNode]) -> dict[str, Line] | None:
    rack = _range(racks)
    suffix = _range([node.name.removeprefix(node.rack) for node in nodes])
    if rack is None or suffix is None or not all(node.name.startswith(node.rack) for node in nodes):
        return None
    units = [node.rack_unit for node in nodes]
    return {rack + suffix: {"rack": rack, "rack_unit": units[0] if len(units) == 1 else units}}


def _range(names: Sequence[str]) -> str | None:
    """Return names of consecutive numbers as a range; one name is itself."""
    if len(names) == 1:
        return names[0]
    if not all(_follows(before, after) for before, after in pairwise(names)):
        return None
    first, last = _NUMBERED.fullmatch(names[0]), _NUMBERED.fullmatch(names[-1])
    return f"{first[1]}[{first[2]}-{last[2]}]" if first and last else None


def _means(lines: Mapping[str, Line], nodes: Sequence[NewNode]) -> bool:
    """Return whether lines stand for exactly these nodes at these places."""
    places = {key: Place.model_validate(dict(line)) for key, line in lines.items()}
    try:
        read = placed_nodes({"": PoolSpec(system="", role="training", nodes=places)})
    except (RangeError, ValueError):
        return False
    return sorted((node.name, node.rack, node.rack_unit) for node in read) == sorted(
        (node.name, node.rack, node.rack_unit) for node in nodes
    )
