"""
What is read of a host without the host: its BMC, its node in the cluster, and a switch by its API.

Asked on the deploy host, by the modules of these names when a playbook runs, and by the provider's reader: both call
the same functions, with the options checked by the same rules.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.coldaisle.site.plugins.filter.facts import bmc_facts, node_facts

PACKAGE = "ansible_collections.coldaisle.site.plugins.module_utils"
Told = tuple[dict[str, Any], dict[str, str]]
"""Facts that were told, and why others were not, by fact."""


class Asking(NamedTuple):
    """Whom to ask (`bmc`, `node` or `switch`), by which access, for which facts."""

    teller: str
    access: Mapping[str, Any]
    names: list[str]


TELLERS = {"bmc": ("bmc_facts", "read_bmc"), "node": ("node", "read_node"), "switch": ("switch_life", "ask_switch")}
"""By teller, the module that asks it, and the function that takes access and names and returns what was told."""

BMC_LIBRARIES = {"redfish": "bmc_redfish", "ipmi": "bmc_ipmi"}
"""By a BMC's protocol, the module that loads the library for it."""


def askings(names: list[str], accesses: Mapping[str, Mapping[str, Any]]) -> Iterator[Asking]:
    """Yield who is asked for which of the facts, given the accesses by teller."""
    if found := bmc_facts(names):
        yield Asking("bmc", accesses.get("bmc") or {}, found)
    if found := node_facts(names):
        yield Asking("node", accesses.get("node") or {}, found)
    if switch := accesses.get("switch"):
        yield Asking("switch", switch, list(names))


def load(wanted: Iterable[Asking]) -> None:
    """Import what these questions will need; where a library is missing, the answer says so."""
    names = {
        name
        for it in wanted
        for name in (TELLERS[it.teller][0], BMC_LIBRARIES.get(it.access.get("protocol", "")))
        if name
    }
    for name in names:
        with contextlib.suppress(ImportError):
            import_module(f"{PACKAGE}.{name}")


def ask(asking: Asking) -> Told:
    """Return what was told; whatever goes wrong is the reason why the facts could not be read."""
    name, function = TELLERS[asking.teller]
    try:
        module = import_module(f"{PACKAGE}.{name}")
        given = {key: value for key, value in asking.access.items() if value is not None}
        checked = ArgumentSpecValidator(module.ACCESS_OPTIONS).validate(given)
        if checked.error_messages:
            return {}, dict.fromkeys(asking.names, "; ".join(checked.error_messages))
        read: Callable[[Mapping[str, Any], list[str]], Told] = getattr(module, function)
        return read(checked.validated_parameters, asking.names)
    except Exception as error:  # noqa: BLE001  # a library may raise anything, and each of the facts needs a reason
        return {}, dict.fromkeys(asking.names, f"{type(error).__name__}: {error}")
