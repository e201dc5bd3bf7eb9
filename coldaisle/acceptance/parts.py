"""
Which part to look at: what a tool names, turned into what a person finds in the hall.

A tool says `GPU 5` or `rail0`. Serial and slot come from what the host told of its parts in the same run; of a GPU that
is gone nothing tells, but the slots of a like host do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from coldaisle.acceptance.records import Part, Step, Where

Facts = Mapping[str, str]
"""Serials and slots of one host's parts, as `gpu.5.serial`."""


def part_of(where: Where | None, step: Step, facts: Facts) -> Part | None:
    """Return the part that a fault of a step is about; None where the tool names none."""
    if where is None:
        return None
    host = where.name if where.kind == "node" else step.host
    if where.kind == "gpu":
        return _gpu(where.name, step.host, facts)
    if where.kind == "cable":
        return cable(host, where.name, step.expects.get("cables", {}).get(where.name, ()))
    if where.kind == "node":
        return Part(kind="node", name=host)
    words = {"nic": "adapter of", "disk": "disk under", "dimm": "DIMM"}
    return Part(kind=where.kind, name=f"{host} {words[where.kind]} {where.name}", slot=_fact(facts, where, "slot"))


def cable(host: str, port: str, far: Iterable[str]) -> Part:
    """Return a cable by both of its planned ends."""
    end = ":".join(far) or "its switch"
    return Part(kind="cable", name=f"cable {host}:{port} to {end}")


def _gpu(name: str, host: str, facts: Facts) -> Part:
    """Return a GPU by index, or by the bus address that the kernel's log and other tools use."""
    index = name if name.isdigit() and f"gpu.{name}.slot" in facts else _index_of(name, facts)
    if index is None:
        slot = None if name.isdigit() else name
        return Part(kind="gpu", name=f"{host} GPU {name}" if slot is None else f"{host} GPU", slot=slot)
    serial, slot = facts.get(f"gpu.{index}.serial"), facts.get(f"gpu.{index}.slot")
    return Part(kind="gpu", name=f"{host} GPU {index}", serial=serial, slot=slot)


def _index_of(slot: str, facts: Facts) -> str | None:
    for name, value in facts.items():
        if name.endswith(".slot") and name.startswith("gpu.") and bus(value) == bus(slot):
            return name.split(".")[1]
    return None


def bus(slot: str) -> str:
    """
    Return a PCI address in one form: tools write the domain with four digits, with eight, or not at all.

    >>> bus("00000000:9A:00.0") == bus("0000:9a:00") == bus("9a:00.0")
    True
    """
    parts = slot.lower().partition(".")[0].split(":")
    return ":".join(parts[-2:]) if len(parts) > 1 else slot.lower()


def empty_slots(host: str, facts: Mapping[str, Facts], like: Iterable[str]) -> list[str]:
    """
    Return the slots in which a host has no GPU and like hosts have one, by the fullest of them.

    Like hosts are of one system, whose slots have the same bus addresses.
    """
    fullest = max((_slots(facts.get(other, {})) for other in like), key=len, default=set())
    own = _slots(facts.get(host, {}))
    known = {bus(slot) for slot in own}
    return sorted(slot for slot in fullest if bus(slot) not in known) if own else []


def _slots(facts: Facts) -> set[str]:
    return {value for name, value in facts.items() if name.startswith("gpu.") and name.endswith(".slot")}


def _fact(facts: Facts, where: Where, what: str) -> str | None:
    return facts.get(f"{where.kind}.{where.name}.{what}")
