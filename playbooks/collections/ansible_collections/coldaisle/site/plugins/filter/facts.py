"""Filters over facts: which are read on a host, and where planned and seen differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.facts import HOST_FACTS, different

BMC_FACTS = frozenset({"power", "boot_order"})
NODE_FACTS = frozenset({"label", "taints", "node_ready"})


def _kind(name: str) -> str:
    return name.partition(".")[0]


def host_facts(names: Iterable[str]) -> list[str]:
    """Return the facts that are read on the host itself."""
    return [name for name in names if _kind(name) in HOST_FACTS]


def bmc_facts(names: Iterable[str]) -> list[str]:
    """Return the facts that the host's BMC tells."""
    return [name for name in names if _kind(name) in BMC_FACTS]


def node_facts(names: Iterable[str]) -> list[str]:
    """Return the facts that the cluster's API tells."""
    return [name for name in names if _kind(name) in NODE_FACTS]


def differences(planned: Mapping[str, Any], seen: Mapping[str, Any], errors: Mapping[str, str]) -> list[str]:
    """Return a sentence for each fact that does not fit the plan or could not be read."""
    return [
        f"{name} is {seen[name]}, planned {planned[name]}"
        if name in seen
        else f"{name}: {errors.get(name, 'not read')}"
        for name in different(planned, seen)
    ]


class FilterModule:
    """Ansible's name for a set of filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by their names."""
        return {
            "host_facts": host_facts,
            "bmc_facts": bmc_facts,
            "node_facts": node_facts,
            "differences": differences,
        }
