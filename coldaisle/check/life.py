"""Checks of the parts of nodes: each serial is one part's, and what has left a node does not come back unasked."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding, read_twice
from coldaisle.plan.model import SitePlan
from coldaisle.spec.hardware import NodeHardware
from coldaisle.spec.journal import RETIRED
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec


def check_part_serials(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each serial belongs to one chassis, GPU or memory module."""
    del plan
    labels = (
        (("hardware", node, *place), serial)
        for node, hardware in spec.hardware.items()
        for place, serial in _serials(hardware)
    )
    yield from read_twice(spec, labels, "duplicate-serial", "two parts have the serial {label}")


def _serials(hardware: NodeHardware) -> Iterator[tuple[Loc, str]]:
    if hardware.serial:
        yield ("serial",), hardware.serial
    for kind in ("gpus", "dimms"):
        yield from (((kind, slot), serial) for slot, serial in getattr(hardware, kind).items())


def check_gone_parts(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """
    What was taken out of a node, or retired with it, is in the delivery list of no node.

    A broken part that comes back by mistake breaks another machine, and a retired machine's port would be answered.
    """
    del plan
    gone = spec.journal.gone
    for node, hardware in spec.hardware.items() if gone else ():
        for place, label in _labels(hardware):
            step = gone.get(label.lower())
            if step is None or (step.node == node and spec.journal.states[node] == RETIRED):
                continue
            what = f"{label} has left {step.node} at {step.when}, and stands in the delivery list of {node}"
            have = f"step {step.step} of {step.node}: {step.who} ({step.why})"
            fix = "write what the label of the part in the machine says; a part that was mended comes back with "
            fix += "coldaisle node replace --take-back"
            yield finding(spec, ("hardware", node, *place), "hardware-returned", what=what, have=have, fix=fix)


def _labels(hardware: NodeHardware) -> Iterator[tuple[Loc, str]]:
    yield from _serials(hardware)
    if hardware.bmc_mac:
        yield ("bmc_mac",), hardware.bmc_mac
    if hardware.uuid:
        yield ("uuid",), hardware.uuid
    for kind in ("macs", "disks"):
        yield from (((kind, place), label) for place, label in getattr(hardware, kind).items())


LIFE_CHECKS = (check_part_serials, check_gone_parts)
