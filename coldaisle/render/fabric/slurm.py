"""
Slurm's topology.conf: the tree of a fabric, and blocks where NVLink reaches beyond a node.

Source: topology.conf(5) and the Topology Guide of Slurm. A node is under one leaf only, so that a group of leaves with
rails is one switch of the tree; names of switches are Slurm's own business. Each block has at least as many nodes as
the base block size, so that the smallest block sets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from coldaisle.plan import plan_hash
from coldaisle.plan.model import FabricPlan, SitePlan
from coldaisle.render.fabric.domains import nvlink_domains, tiers_of

_LAST_NUMBER = re.compile(r"^(.*?)(\d+)$")


def slurm_files(plan: SitePlan, fabric: FabricPlan) -> Iterator[tuple[str, str]]:
    """Yield the tree of a fabric and, where there are NVLink domains, the blocks; both are topology.conf to Slurm."""
    origin = f"# site {plan.name}, fabric {fabric.name}, plan {plan_hash(plan)}"
    yield "topology-tree.conf", _text(origin, "topology/tree", _tree(plan, fabric))
    blocks = nvlink_domains(plan)
    if blocks:
        origin = f"# site {plan.name}, NVLink domains, plan {plan_hash(plan)}"
        yield "topology-block.conf", _text(origin, "topology/block", _blocks(blocks))


def _text(origin: str, plugin: str, lines: Iterable[str]) -> str:
    head = [origin, f"# /etc/slurm/topology.conf; slurm.conf has TopologyPlugin={plugin}"]
    return "\n".join([*head, *lines, ""])


def _tree(plan: SitePlan, fabric: FabricPlan) -> Iterator[str]:
    for domain in (domain for tier in tiers_of(fabric, (node.name for node in plan.nodes)) for domain in tier):
        members = f"Nodes={hostlist(domain.nodes)}" if domain.nodes else f"Switches={hostlist(domain.children)}"
        yield f"SwitchName={domain.name} {members}"


def _blocks(blocks: dict[str, tuple[str, ...]]) -> Iterator[str]:
    for name, nodes in blocks.items():
        yield f"BlockName={name} Nodes={hostlist(nodes)}"
    yield f"BlockSizes={min(map(len, blocks.values()))}"


def hostlist(names: Iterable[str]) -> str:
    """Return names as Slurm writes them: `r01-n[1-4,7],r02-n1`. Numbers keep their zeros; only the last is folded."""
    keys = sorted((_parts(name) for name in names), key=lambda part: (part[0], len(part[1]), part[1]))
    return ",".join(
        _folded(stem, [number for _, number in group])
        for (stem, _), group in groupby(keys, key=lambda part: (part[0], len(part[1])))
    )


def _parts(name: str) -> tuple[str, str]:
    found = _LAST_NUMBER.match(name)
    return (found[1], found[2]) if found else (name, "")


def _folded(stem: str, numbers: list[str]) -> str:
    if len(numbers) == 1:
        return f"{stem}{numbers[0]}"
    runs: list[list[str]] = []
    for number in numbers:
        if runs and int(number) == int(runs[-1][-1]) + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return f"{stem}[{','.join(run[0] if len(run) == 1 else f'{run[0]}-{run[-1]}' for run in runs)}]"
