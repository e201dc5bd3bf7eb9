"""
All facts that are read on a host itself, and how planned and seen compare.

`read` only reads; `settle` also sets. Both see a host through the same functions, so that what one calls the same the
other leaves alone. Standard library only: this runs on the hosts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ansible_collections.coldaisle.site.plugins.module_utils import gpu_facts, os_facts, rdma_facts, service_facts
from ansible_collections.coldaisle.site.plugins.module_utils.host import Fact, FactError, Value

HOST_FACTS: dict[str, Fact] = {**os_facts.FACTS, **rdma_facts.FACTS, **gpu_facts.FACTS, **service_facts.FACTS}
"""Facts by kind: the part of a fact's name before its first dot."""


def fact_of(name: str) -> tuple[Fact, str]:
    """
    Return how the fact is read and set, and the rest of its name.

    Raises:
        FactError: no host has such a fact.

    """
    kind, _, rest = name.partition(".")
    if kind not in HOST_FACTS:
        raise FactError(f"{name} is not a fact of a host; the facts are {', '.join(sorted(HOST_FACTS))}")
    return HOST_FACTS[kind], rest


def read_fact(name: str) -> Value:
    """
    Return a fact's value as it is now.

    Raises:
        FactError: it cannot be read; the text says why.

    """
    fact, rest = fact_of(name)
    try:
        return fact.read(rest)
    except (OSError, ValueError, KeyError) as error:
        raise FactError(f"{type(error).__name__}: {error}") from error


def read_facts(names: Iterable[str]) -> tuple[dict[str, Value], dict[str, str]]:
    """Return the facts that could be read, and for each other one why not."""
    seen: dict[str, Value] = {}
    errors: dict[str, str] = {}
    for name in names:
        try:
            seen[name] = read_fact(name)
        except FactError as error:
            errors[name] = str(error)
    return seen, errors


def satisfied(name: str, planned: Value, seen: Value) -> bool:
    """
    Tell whether a value fits the plan: a driver at least its floor, an MTU at least the planned one, all else equal.

    The MTU of a port may be above the plan's, since a port must carry what its virtual functions carry.
    """
    kind = name.partition(".")[0]
    if kind == "mtu":
        return int(seen) >= int(planned)
    if kind == "driver":
        return _version(seen) >= _version(planned) > ()
    return seen == planned or str(seen) == str(planned)


def _version(text: Value) -> tuple[int, ...]:
    """Return a dotted version as numbers; empty when it is none, so that what cannot be measured never passes."""
    parts = str(text).split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()


def different(planned: Mapping[str, Value], seen: Mapping[str, Value]) -> list[str]:
    """Return the names of facts that do not fit; one that was not seen does not fit."""
    return [name for name, value in planned.items() if name not in seen or not satisfied(name, value, seen[name])]
