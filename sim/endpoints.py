"""What a site offers, and where: the table that `sim up` and `sim status` print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from coldaisle.plan.model import SitePlan
from sim.fabric import PROCESSES, switch_names
from sim.fault_records import active_faults
from sim.fault_standing import standing
from sim.processes import ProcessGroups
from sim.state import State

BMC_PROCESS = "bmc"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """
    One thing that a user can talk to.

    `always_on` things run as long as the site; machines have a power button, and pods are the cluster's to start.
    """

    name: str
    kind: str
    address: str
    how: str
    state: Literal["up", "down", "on", "off"]
    always_on: bool
    faults: tuple[str, ...] = ()


def endpoints(plan: SitePlan, state: State, cluster: Sequence[Any]) -> tuple[Endpoint, ...]:
    """Return every endpoint of a site, in the order: services, BMCs, machines, switches, control plane."""
    groups = ProcessGroups(state.site)
    running = {name for name in groups.names() if groups.pids(name)}
    return (
        *_service_host(plan, state, running),
        *_bmcs(plan, state, running),
        *_machines(plan, state, running),
        *_switches(plan, state, running),
        *_cluster(plan, cluster),
    )


def _up(*, runs: bool) -> Literal["up", "down"]:
    return "up" if runs else "down"


def _ssh(state: State, address: str) -> str:
    return f"ssh -i {state.ssh_key} root@{address}"


def _service_host(plan: SitePlan, state: State, running: set[str]) -> Iterator[Endpoint]:
    if plan.provisioning is not None:
        name, address = plan.provisioning.host, plan.provisioning.host_address.split("/")[0]
        is_up = _up(runs=name in running)
        yield Endpoint(
            name=name, kind="provisioner", address=address, how=_ssh(state, address), state=is_up, always_on=True
        )


def _bmcs(plan: SitePlan, state: State, running: set[str]) -> Iterator[Endpoint]:
    for node in plan.nodes:
        if node.bmc is None:
            continue
        address = node.bmc.address.split("/")[0]
        faults = tuple(name for name in active_faults(state, node.name) if name.startswith("bmc-"))
        yield Endpoint(
            name=f"{node.name}-bmc",
            kind="bmc",
            address=address,
            how=f"https://{address}/redfish/v1, ipmitool -I lanplus -C 3 -H {address}",
            state=_up(runs=BMC_PROCESS in running),
            always_on=True,
            faults=faults,
        )


def _machines(plan: SitePlan, state: State, running: set[str]) -> Iterator[Endpoint]:
    for node in plan.nodes:
        address = node.management_address.split("/")[0]
        faults = tuple(name for name in standing(state, node) if not name.startswith("bmc-"))
        yield Endpoint(
            name=node.name,
            kind="guest" if node.boot == "network" else "light host",
            address=address,
            how=_ssh(state, address),
            state="on" if node.name in running else "off",
            always_on=False,
            faults=faults,
        )


def _switches(plan: SitePlan, state: State, running: set[str]) -> Iterator[Endpoint]:
    for name, address in switch_names(plan).items():
        yield Endpoint(
            name=name,
            kind="switch",
            address=address,
            how=_ssh(state, address),
            state=_up(runs=all(f"{name}-{process}" in running for process in PROCESSES)),
            always_on=True,
        )


def _cluster(plan: SitePlan, cluster: Sequence[Any]) -> Iterator[Endpoint]:
    """Yield the processes of the control plane; the API server's address is the cluster's."""
    for process in cluster:
        is_api = process.name == "kube-apiserver" and plan.cluster is not None
        yield Endpoint(
            name=process.name,
            kind="pod" if process.is_pod else "control plane",
            address=plan.cluster.api_server if is_api and plan.cluster else "",
            how=f"log {process.log}",
            state=_up(runs=process.pid is not None),
            always_on=not process.is_pod,
        )
