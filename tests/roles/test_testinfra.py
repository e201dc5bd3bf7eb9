"""
The plan's facts of a host once more, read by testinfra with the host's own commands.

The collection reads a fact to set it and to find drift. Reading it by other means shows that both are not wrong alike.
"""

from __future__ import annotations

import contextlib
import ipaddress
import subprocess
import tempfile
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
    from collections.abc import Callable, Iterator, Mapping

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


def _gateway(host: Host, nic: str) -> str:
    """Return the gateway that the kernel chooses for what comes from the port's own address."""
    own = _planned_address(host, nic).partition("/")[0]
    return str(host.check_output("ip route get 192.0.2.1 from %s", own)).split(" via ")[1].split()[0]


def _path_mtu(host: Host, nic: str) -> int:
    """Return the port's MTU where its gateway answers packets of that size; 28 bytes are headers."""
    own, size = _planned_address(host, nic).partition("/")[0], READERS["mtu"](host, nic)
    host.check_output("ping -c 3 -W 2 -M do -s %s -I %s %s", str(int(size or 0) - 28), own, _gateway(host, nic))
    return int(size or 0)


def _gids(host: Host, nic: str) -> str:
    """Return the IPv4 addresses of a port's GIDs: the last two groups of those that are mapped into IPv6."""
    of_port = "for file in $(grep -slx %s /sys/class/infiniband/*/ports/1/gid_attrs/ndevs/*); do "
    lines = str(host.check_output(of_port + "cat ${file%%/gid_attrs*}/gids/${file##*/}; done", nic)).split()
    groups = [line.split(":")[-2:] for line in lines if ":ffff:" in line]
    return ",".join(str(ipaddress.IPv4Address(int("".join(pair), 16))) for pair in groups)


def _imex(host: Host, _name: str) -> str:
    return "on" if host.service("nvidia-imex").is_enabled else "off"


READERS: Mapping[str, Reader] = {
    "hostname": lambda host, _: host.check_output("hostname"),
    "timezone": lambda host, _: host.file("/etc/localtime").linked_to.removeprefix("/usr/share/zoneinfo/"),
    "time_sync": lambda host, _: "enabled" if host.service("systemd-timesyncd").is_enabled else "disabled",
    "user": lambda host, name: "present" if host.user(name).exists else "absent",
    "mtu": lambda host, nic: int(host.file(f"/sys/class/net/{nic}/mtu").content_string),
    "mac": lambda host, nic: host.file(f"/sys/class/net/{nic}/address").content_string.strip(),
    "address": _planned_address,
    "route": _gateway,
    "path_mtu": _path_mtu,
    "gid": _gids,
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


@contextlib.contextmanager
def _connected(name: str) -> Iterator[Host]:
    """Give a host as testinfra sees it: one login for all questions, since on an emulated guest each takes seconds."""
    hosts = inventory(plan_site(load_site(SITE)), hosts=[name])["all"]["hosts"]
    how = {key.removeprefix("ansible_"): str(value) for key, value in hosts[name].items()}
    key_file = str(Path(how["ssh_private_key_file"]).expanduser())
    address = f"{how['user']}@{how['host']}"
    options = how.get("ssh_common_args", "")
    with tempfile.TemporaryDirectory(prefix="ca-") as folder:
        socket = f"{folder}/ssh"
        yield testinfra.get_host(
            f"ssh://{address}", ssh_identity_file=key_file, ssh_extra_args=options, controlpath=socket
        )
        subprocess.run(["ssh", "-o", f"ControlPath={socket}", "-O", "exit", address], capture_output=True, check=True)


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
    planned = {fact: value for fact, value in _facts(name).items() if fact.partition(".")[0] not in NEEDS_CLUSTER}
    with _connected(name) as host:
        seen = {fact: _read(host, fact) for fact in planned}
    wrong = {fact: (value, seen[fact]) for fact, value in planned.items() if not same(fact, value, seen[fact])}
    assert wrong == {}
