"""Filters over facts: who tells which of them, and parts of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import EVENT_LOG, IDENTITY, SETTINGS
from ansible_collections.coldaisle.site.plugins.module_utils.facts import HOST_KINDS

BMC_FACTS = frozenset(
    {"power", "power_policy", "boot_order", "power_limit_w", "firmware", "event_destination"}
    | {EVENT_LOG, *SETTINGS, *IDENTITY}
)
NODE_FACTS = frozenset({"label", "taints", "node_ready", "kubelet_serving"})


def _kind(name: str) -> str:
    return name.partition(".")[0]


def host_facts(names: Iterable[str]) -> list[str]:
    """Return the facts that are read on the host itself."""
    return [name for name in names if _kind(name) in HOST_KINDS]


def bmc_facts(names: Iterable[str]) -> list[str]:
    """Return the facts that the host's BMC tells."""
    return [name for name in names if _kind(name) in BMC_FACTS]


def node_facts(names: Iterable[str]) -> list[str]:
    """Return the facts that the cluster's API tells."""
    return [name for name in names if _kind(name) in NODE_FACTS]


def only(facts: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the facts of these names."""
    return {name: facts[name] for name in names}


def of_kind(facts: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the facts of one kind."""
    return {name: value for name, value in facts.items() if _kind(name) == kind}


def but_kind(facts: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the facts of all other kinds."""
    return {name: value for name, value in facts.items() if _kind(name) != kind}


def with_contents(files: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """
    Return files with their contents: one that has `content_file` gets the text of that file of the deploy host.

    Raises:
        AnsibleFilterError: the file cannot be read.

    """
    found = []
    for file in files:
        entry = dict(file)
        source = entry.pop("content_file", None)
        if source is not None:
            try:
                entry["content"] = Path(source).expanduser().read_text(encoding="utf-8")
            except OSError as error:
                raise AnsibleFilterError(f"{source}, wanted for {entry['path']}: {error.strerror}") from error
        found.append(entry)
    return found


class FilterModule:
    """Ansible's name for a set of filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by their names."""
        return {
            "host_facts": host_facts,
            "node_facts": node_facts,
            "only": only,
            "of_kind": of_kind,
            "but_kind": but_kind,
            "with_contents": with_contents,
        }
