"""
The plan's facts of a host once more, read by testinfra with the host's own commands.

The collection reads a fact to set it and to find drift. Reading it by other means shows that both are not wrong alike.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import testinfra

from coldaisle.drift.equality import same
from coldaisle.plan import plan_site
from coldaisle.plan.plays import host_facts
from coldaisle.render.ansible import inventory
from coldaisle.spec import load_site, site_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from testinfra.host import Host

    from coldaisle.drift.equality import Fact
    from coldaisle.plan.model import Facts

    Reader = Callable[[Host, str], Fact]

SITE = site_folder("sim")
NEEDS_CLUSTER = {"node_ready", "taints", "label", "kubelet_config"}
"""Facts that only the API server answers, and a digest of a file that the next run compares; e2e looks at them."""


def _gpu(host: Host, field: str) -> list[str]:
    return str(host.check_output("nvidia-smi --query-gpu=%s --format=csv,noheader", field)).splitlines()


def _functions(host: Host, nic: str) -> int:
    """Count a port's virtual functions as links of their own, which is how the kernel shows them to users."""
    return str(host.check_output("ip -brief link show")).count(f"{nic}v")


def _active(host: Host, unit: str) -> str:
    return "active" if host.service(unit).is_running else "inactive"


def _loaded(host: Host, module: str) -> str:
    return "on" if host.file(f"/sys/module/{module}").exists else "off"


def _planned_address(host: Host, nic: str) -> str:
    return str(host.check_output("ip -4 -brief address show dev %s", nic)).split()[2]


def _locked_memory(host: Host, _name: str) -> str:
    """Return the limit that a new service gets, which is what a pod's runtime hands on."""
    return str(host.check_output("systemd-run --quiet --pipe --wait bash -c 'ulimit -l'")).strip()


def _roce_dscp(host: Host, _name: str) -> int:
    """Return the DSCP of the first device's class of service, whose upper six bits it is."""
    return int(host.check_output("cat /sys/kernel/config/rdma_cm/*/ports/1/default_roce_tos").split()[0]) >> 2


def _rdma_state(host: Host, nic: str) -> str:
    line = next(line for line in str(host.check_output("rdma link show")).splitlines() if line.split()[-1] == nic)
    return line.split("state ")[1].split()[0].lower()


def _imex(host: Host, _name: str) -> str:
    return "on" if host.service("nvidia-imex").is_enabled else "off"


READERS: Mapping[str, Reader] = {
    "hostname": lambda host, _: host.check_output("hostname"),
    "timezone": lambda host, _: host.file("/etc/localtime").linked_to.removeprefix("/usr/share/zoneinfo/"),
    "time_sync": lambda host, _: "enabled" if host.service("systemd-timesyncd").is_enabled else "disabled",
    "user": lambda host, name: "present" if host.user(name).exists else "absent",
    "mtu": lambda host, nic: int(host.file(f"/sys/class/net/{nic}/mtu").content_string),
    "address": _planned_address,
    "sysctl": lambda host, name: host.sysctl(name),
    "hugepages_2mi": lambda host, _: host.sysctl("vm.nr_hugepages"),
    "memlock": _locked_memory,
    "vfs": _functions,
    "rdma_device": _rdma_state,
    "roce_dscp": _roce_dscp,
    "gpu_count": lambda host, _: len(_gpu(host, "uuid")),
    "driver": lambda host, _: _gpu(host, "driver_version")[0],
    "persistence": lambda host, _: set(_gpu(host, "persistence_mode")) == {"Enabled"},
    "nouveau": lambda host, _: _loaded(host, "nouveau"),
    "imex_service": _imex,
    "fabric_state": lambda host, _: _gpu(host, "fabric.state")[0],
    "service": _active,
}


def _connect(name: str) -> Host:
    """Return a host as testinfra sees it, over the SSH connection that playbooks use."""
    hosts = inventory(plan_site(load_site(SITE)))["all"]["hosts"]
    how = {key.removeprefix("ansible_"): str(value) for key, value in hosts[name].items()}
    key_file = str(Path(how["ssh_private_key_file"]).expanduser())
    address = f"ssh://{how['user']}@{how['host']}"
    return testinfra.get_host(address, ssh_identity_file=key_file, ssh_extra_args=how.get("ssh_common_args", ""))


def _facts(name: str) -> Facts:
    """Return what is planned of a host, all playbooks together, but for its BMC, which is not on the host."""
    plan = plan_site(load_site(SITE))
    node = next(node for node in plan.nodes if node.name == name)
    by_play = host_facts(plan, node)
    return {fact: value for play, facts in by_play.items() if play != "bmc" for fact, value in facts.items()}


def _read(host: Host, fact: str) -> Fact:
    kind, _, name = fact.partition(".")
    return READERS[kind](host, name)


@pytest.mark.parametrize("name", ["r01-n01", "r01-n02", "r02-n01"])
def test_host_is_as_planned_in_its_own_words(name: str) -> None:
    """What a host's own commands say of every planned fact fits the plan."""
    host = _connect(name)
    planned = {fact: value for fact, value in _facts(name).items() if fact.partition(".")[0] not in NEEDS_CLUSTER}
    seen = {fact: _read(host, fact) for fact in planned}
    wrong = {fact: (value, seen[fact]) for fact, value in planned.items() if not same(fact, value, seen[fact])}
    assert wrong == {}
