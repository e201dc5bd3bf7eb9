"""
A switch as a fabric uses it: with some of its ports broken out into ports of a lower rate.

The first ports of a leaf are broken out towards the nodes; the rest stay whole, for uplinks.
"""

from __future__ import annotations

from coldaisle.plan.model import PortPlan
from coldaisle.spec.catalog import Catalog, NetworkOs, PortBlock, Switch
from coldaisle.spec.fabrics import FabricSpec, SwitchGroup

WIDEST = 8
"""A port broken out into eight takes the lanes of the next one too, which is then disabled."""


def group_of(fabric: FabricSpec, role: str) -> SwitchGroup | None:
    """Return what the spec says of the switches of one role; cores without words of their own are like spines."""
    if role == "core" and fabric.core is None and fabric.spine is not None:
        return SwitchGroup(model=fabric.spine.model)
    return {"leaf": fabric.leaf, "spine": fabric.spine, "core": fabric.core, "oob": fabric.switch}.get(role)


def role_model(catalog: Catalog, fabric: FabricSpec, role: str) -> Switch:
    """
    Return the switch model of a role, with its ports as they are broken out.

    Raises:
        LookupError: the fabric has no switches of that role; a valid spec has those that its topology needs.
    """
    group = group_of(fabric, role)
    if group is None:
        raise LookupError(f"a {fabric.topology} fabric has no {role} switches")
    return model_of(catalog, group, chosen_os(fabric, catalog.switches[group.model]))


def chosen_os(fabric: FabricSpec, model: Switch) -> NetworkOs | None:
    """Return what a fabric's switches of a model run: its own word, else the first that the catalog names."""
    return fabric.network_os or next(iter(model.network_os), None)


def model_of(catalog: Catalog, group: SwitchGroup, system: NetworkOs | None = None) -> Switch:
    """Return a group's switch model with its ports as they are broken out, and as an operating system names them."""
    model = _named(catalog.switches[group.model], system)
    if group.breakout is None or group.breakout == 1:
        return model
    whole = model.ports[0]
    step = 2 if group.breakout == WIDEST else 1
    split = group.breakout_ports or max(1, whole.count // 2 // step)
    return model.model_copy(update={"ports": [_split(whole, group.breakout, split, step), *_rest(model, split * step)]})


def _named(model: Switch, system: NetworkOs | None) -> Switch:
    """Return a model with the port names of its operating system; only SONiC has names of its own."""
    if system != "sonic" or all(block.sonic is None for block in model.ports):
        return model
    names = {"name": "Ethernet{sonic}", "split_name": "Ethernet{sonic}"}
    return model.model_copy(
        update={"ports": [block.model_copy(update=names) if block.sonic else block for block in model.ports]}
    )


def port_plans(catalog: Catalog, fabric: FabricSpec, role: str) -> tuple[PortPlan, ...]:
    """Return the ports of a switch of one role, in order; one that a neighbour's breakout disables is left out."""
    group = group_of(fabric, role)
    model = role_model(catalog, fabric, role)
    lanes = group.breakout if group is not None and group.breakout is not None else 1
    first = _named(catalog.switches[group.model], chosen_os(fabric, model)).ports[0] if group else model.ports[0]
    return tuple(
        _port_plan(block, index, first if position == 0 and lanes > 1 else None)
        for position, block in enumerate(model.ports)
        for index in range(block.count)
    )


def _port_plan(block: PortBlock, index: int, whole: PortBlock | None) -> PortPlan:
    """Return a port of a block, which is a part of a port of `whole` where one is given."""
    cages = index // block.ports_per_cage * block.cage_step
    return PortPlan(
        name=block.port_name(index),
        cage=block.first + cages,
        whole=block.port_name(index) if whole is None else whole.port_name(cages),
        split=1 if whole is None else block.ports_per_cage,
        rate_gbps=block.rate_gbps,
        lanes=block.port_lanes,
        chip_lanes=block.sonic_lanes(index),
        alias=block.sonic_alias(index),
    )


def _split(whole: PortBlock, lanes: int, count: int, step: int) -> PortBlock:
    return whole.model_copy(
        update={
            "count": count * lanes,
            "rate_gbps": whole.rate_gbps / lanes,
            "name": whole.split_name,
            "ports_per_cage": lanes,
            "first_lane": 0,
            "cage_step": step,
            "also_gbps": [],
        }
    )


def _rest(model: Switch, taken: int) -> list[PortBlock]:
    """Return the blocks behind the ports that are broken out; a first block that is used up leaves none."""
    whole = model.ports[0]
    update = {"count": max(0, whole.count - taken), "first": whole.first + taken}
    left = whole.model_copy(update={**update, "sonic": whole.sonic.behind(taken) if whole.sonic else None})
    return [*([left] if left.count else []), *model.ports[1:]]
