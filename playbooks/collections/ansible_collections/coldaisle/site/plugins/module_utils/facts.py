"""
All facts that are read on a host itself, and how planned and seen compare.

`read` only reads; `settle` also sets. Both see a host through the same functions, so that what one calls the same the
other leaves alone. Standard library only: this runs on the hosts.
"""

from __future__ import annotations

import re

from ansible_collections.coldaisle.site.plugins.module_utils import (
    gpu_facts,
    network_facts,
    os_facts,
    rdma_facts,
    service_facts,
    switch_systems,
)
from ansible_collections.coldaisle.site.plugins.module_utils.host import Fact, FactError, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HOST_FACTS: dict[str, Fact] = {
    **os_facts.FACTS,
    **network_facts.FACTS,
    **rdma_facts.FACTS,
    **gpu_facts.FACTS,
    **service_facts.FACTS,
    **switch_systems.FACTS,
}
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


UNIVERSAL_TIME = {"UTC", "Etc/UTC", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"}
"""Names of one zone."""


def satisfied(name: str, planned: Value, seen: Value) -> bool:
    """
    Tell whether a value fits the plan: floors for some facts, sets for others, else the same value.

    These are the rules of `coldaisle.drift.equality`, which no host has; a test holds the two together. The MTU of a
    port may be above the plan's, since a port must carry what its virtual functions carry.
    """
    kind, left, right = name.partition(".")[0], _text(planned), _text(seen)
    if left == right:
        return True
    if kind in {"mtu", "hugepages_2mi"}:
        return _at_least(left, right)
    if kind == "memlock":
        return right == "unlimited" or _at_least(left, right)
    if kind == "driver":
        return _version(right) >= _version(left) > () and _version(right) > ()
    if kind == "taints":
        return set(left.split(",")) == set(right.split(","))
    return kind == "timezone" and {left, right} <= UNIVERSAL_TIME


def _text(value: Value) -> str:
    """Return one spelling of a value: numbers, flags and what YAML makes of them."""
    text = " ".join(str(value).split())
    return text.lower() if text in {"True", "False"} else text


def _at_least(planned: str, seen: str) -> bool:
    return planned.isdigit() and seen.isdigit() and int(seen) >= int(planned)


def _version(text: str) -> tuple[int, ...]:
    """Return the numbers of a version; none when it has none, so that what cannot be measured never passes."""
    return tuple(int(part) for part in re.findall(r"\d+", text))


def different(planned: Mapping[str, Value], seen: Mapping[str, Value]) -> list[str]:
    """Return the names of facts that do not fit; one that was not seen does not fit."""
    return [name for name, value in planned.items() if name not in seen or not satisfied(name, value, seen[name])]
