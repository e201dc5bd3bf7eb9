"""
All facts that are read on a host itself, and how planned and seen compare.

`read` only reads; `settle` also sets. Both see a host through the same functions, so that what one calls the same the
other leaves alone. Standard library only: this runs on the hosts.
"""

from __future__ import annotations

from importlib import import_module

from ansible_collections.coldaisle.site.plugins.module_utils.host import Fact, FactError, Value, forget
from ansible_collections.coldaisle.site.plugins.module_utils.rules import fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PACKAGE = __name__.rpartition(".")[0]

KINDS_OF = {
    "os_facts": "hostname user sysctl",
    "network_facts": "mtu address addresses bond_mode bond_lacp_rate bond_hash bond_members vlan",
    "kernel_facts": "kernel_release module cmdline cpu_governor hugepages_2mi hugepages_1gi",
    "package_facts": "package held driver_packages",
    "time_facts": "timezone time_sync clock_synchronized clock_offset_ms",
    "rail_facts": "mac route path_mtu",
    "pci_facts": "max_read_request relaxed_ordering acs_redirect",
    "rdma_facts": "vfs rdma_device roce_dscp memlock nofile",
    "nic_facts": "pfc qos_trust dscp_priority ecn gid rdma_netns firmware_vfs",
    "gpu_facts": "gpu_count driver driver_pin kernel_support fabric_manager fabric_state persistence ecc_uncorrected "
    "nouveau imex_service imex_nodes",
    "amd_facts": "amd_gpu_count amd_driver",
    "service_facts": "service kubelet_config boot image",
    "record_facts": "files",
    "health_facts": "kernel_log gpu_report ras_counts",
    "disk_facts": "disk_health",
    "dhcp_facts": "foreign_dhcp",
    "switch_systems": "config effective config_sections",
}
"""The kinds of facts that each module tells. A host compiles a module when it is asked for one of its kinds."""

HOST_KINDS = {kind: module for module, kinds in KINDS_OF.items() for kind in kinds.split()}
"""Kinds, the part of a fact's name before its first dot, to their modules."""


class _Facts(dict[str, Fact]):
    """Facts by kind, each loaded when it is asked for."""

    def __missing__(self, kind: str) -> Fact:
        """Load the module of a kind, and keep its facts."""
        module = import_module(f"{PACKAGE}.{HOST_KINDS[kind]}")
        self.update({name: fact for name, fact in module.FACTS.items() if name not in self})
        return self[kind]


HOST_FACTS = _Facts()


def fact_of(name: str) -> tuple[Fact, str]:
    """
    Return how the fact is read and set, and the rest of its name.

    Raises:
        FactError: no host has such a fact.

    """
    kind, _, rest = name.partition(".")
    if kind not in HOST_KINDS:
        raise FactError(f"{name} is not a fact of a host; the facts are {', '.join(sorted(HOST_KINDS))}")
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
    forget()
    seen: dict[str, Value] = {}
    errors: dict[str, str] = {}
    for name in names:
        try:
            seen[name] = read_fact(name)
        except FactError as error:
            errors[name] = str(error)
    return seen, errors


OTHER_RULES = {"taints": "set", "virtual_media": "image", "machine_uuid": "uuid"}
"""Rules of facts that no host tells but its cluster or its BMC, where they are more than being the same."""


def rule_of(name: str) -> str:
    """Return the name of the rule by which a fact's planned and seen values compare."""
    kind = name.partition(".")[0]
    return HOST_FACTS[kind].rule if kind in HOST_KINDS else OTHER_RULES.get(kind, "same")


def satisfied(name: str, planned: Value, seen: Value) -> bool:
    """Tell whether a value fits the plan by the rule of its fact; a port's MTU may be above the plan's, say (G16)."""
    return fits(rule_of(name), planned, seen)


def different(planned: Mapping[str, Value], seen: Mapping[str, Value]) -> list[str]:
    """Return the names of facts that do not fit; one that was not seen does not fit."""
    return [name for name, value in planned.items() if name not in seen or not satisfied(name, value, seen[name])]
