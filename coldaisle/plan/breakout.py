"""
A switch as a fabric uses it: with some of its ports broken out into ports of a lower rate.

The first ports of a leaf are broken out towards the nodes; the rest stay whole, for uplinks.
"""

from __future__ import annotations

from coldaisle.spec.catalog import Catalog, PortBlock, Switch
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
    return model_of(catalog, group)


def model_of(catalog: Catalog, group: SwitchGroup) -> Switch:
    """Return a group's switch model with its ports as they are broken out."""
    model = catalog.switches[group.model]
    if group.breakout is None or group.breakout == 1:
        return model
    whole = model.ports[0]
    step = 2 if group.breakout == WIDEST else 1
    split = group.breakout_ports or max(1, whole.count // 2 // step)
    return model.model_copy(update={"ports": [_split(whole, group.breakout, split, step), *_rest(model, split * step)]})


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
    left = whole.model_copy(update={"count": max(0, whole.count - taken), "first": whole.first + taken})
    return [left, *model.ports[1:]]
