"""A hall: start it from a site's plan, run commands on its deploy host, say what runs, and remove every trace of it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from coldaisle.paths import cache_dir, state_dir
from coldaisle.plan.model import SitePlan
from coldaisle.render.ansible import inventory
from sim.errors import SimError
from sim.hall.plan import DEPLOY, Wanted, hall_name, hall_plan, hall_wiring
from sim.image.build import Image, ensure_image
from sim.kernel_room import Need, require_room
from sim.light import FILES, install_light
from sim.machines import Kind, Machine, hardware_record, node_machine
from sim.measures import planned_cables
from sim.mounts import mounts_below
from sim.network import connect, namespaces, remove_namespaces
from sim.power import PowerSwitch, write_hardware
from sim.processes import ProcessGroups
from sim.requirements import require_root
from sim.secrets import ensure_secrets
from sim.services import install_container
from sim.shell import find, run
from sim.site import BMC_PROCESS, DEFAULT_IMAGE, PROJECT, remove_files
from sim.state import HALL_MARK, State, read_json, write_json

Progress = Callable[[str], None]

BMCS_A_PROCESS = 128
"""Python answers for so many with one core; a second process takes the next ones."""

NEIGHBOURS_A_NODE = 3
"""The deploy host knows each host and its BMC, and the host knows the deploy host."""

INVENTORY = "inventory.yaml"
READY_S = 60.0
"""Seconds until a process of BMCs answers, for each that is started with it."""
POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class HallStatus:
    """What runs of a hall. `on` has the machines that are on; memory is that of all its processes."""

    site: str
    bmcs: int
    bmc_processes: int
    machines: tuple[str, ...]
    on: tuple[str, ...]
    memory_bytes: int


def state_of(site: str) -> State:
    """Return the state of a site's hall, by the site's name."""
    return State(hall_name(site), state_dir(hall_name(site)), mark=HALL_MARK)


def need_of(nodes: int) -> Need:
    """Return what a hall needs of the kernel; each of its hosts has a port of the out-of-band switch."""
    return Need(NEIGHBOURS_A_NODE * nodes, ports=nodes)


def up(site: SitePlan, wanted: Wanted, progress: Progress) -> HallStatus:
    """
    Start the BMCs of a hall; its hosts stay off until their BMC turns them on.

    A second call repairs what is missing. Raises SimError when this machine cannot carry it.
    """
    require_root()
    state = state_of(site.name)
    plan = hall_plan(site, state, wanted)
    require_room(need_of(len(plan.nodes)), "start fewer hosts")
    with state.locked():
        state.make_folders()
        ensure_secrets(plan, state)
        made = connect(state.namespace_prefix, hall_wiring(plan))
        progress(f"network: {len(namespaces(state.namespace_prefix))} namespaces, {made} new cables")
        _prepare_machines(plan, wanted, state, progress)
        _write_inventory(plan, state)
        _start_bmcs(plan, state, progress)
        return status(site.name)


def _prepare_machines(plan: SitePlan, wanted: Wanted, state: State, progress: Progress) -> None:
    """Install what is new, and write the machines down for the BMCs."""
    kinds = {node.name: wanted.kind_of(node) for node in plan.nodes}
    image = None
    if {"light", "container"} & set(kinds.values()):
        image = ensure_image(cache_dir() / "images", DEFAULT_IMAGE, progress)
    found = [node_machine(node, state, _layers(image, kinds[node.name]), kinds[node.name]) for node in plan.nodes]
    key, cables = state.ssh_key.with_suffix(".pub").read_text(), planned_cables(plan)
    for machine, node in zip(found, plan.nodes, strict=True):
        machine.path.mkdir(exist_ok=True)
        write_hardware(machine, hardware_record(plan, node, cables))
        if machine.kind == "light" and not (machine.path / "upper").exists():
            install_light(machine, key)
        elif machine.kind == "container" and not (machine.path / "upper").exists():
            install_container(machine, key)
    record = json.loads(json.dumps({"machines": [machine.as_dict() for machine in found]}))
    if read_json(state.folder / "machines.json") != record:
        write_json(state.folder / "machines.json", record)
        for name in _bmc_processes(ProcessGroups(state.site).names()):
            ProcessGroups(state.site).stop(name)


def _layers(image: Image | None, kind: Kind) -> tuple[Path, ...]:
    layers = image.layers if image else ()
    return (FILES, *layers) if kind == "light" else layers


def _write_inventory(plan: SitePlan, state: State) -> None:
    """Write the hall's Ansible inventory: the provider takes it by COLDAISLE_INVENTORY, ansible-playbook by -i."""
    plain = json.loads(json.dumps(inventory(plan)))
    (state.folder / INVENTORY).write_text(yaml.dump(plain, Dumper=yaml.CSafeDumper, sort_keys=False))


def _bmc_processes(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(BMC_PROCESS)]


def _start_bmcs(plan: SitePlan, state: State, progress: Progress) -> None:
    """Start as many processes of BMCs as are needed, and wait until the last BMC of each answers."""
    groups, count = ProcessGroups(state.site), sum(node.bmc is not None for node in plan.nodes)
    shards = -(-count // BMCS_A_PROCESS)
    for shard in range(shards):
        name = f"{BMC_PROCESS}-{shard}"
        if groups.pids(name):
            continue
        command = [sys.executable, "-m", "sim.bmc.server", state.site, str(state.folder), f"{shard}/{shards}"]
        where, log = state.namespace("bmc"), state.logs / f"{name}.log"
        log.unlink(missing_ok=True)
        groups.start(name, command, log, namespace=where, extra_environment={"PYTHONPATH": str(PROJECT)})
    started = time.monotonic()
    deadline = started + READY_S * shards
    for shard in range(shards):
        _wait_ready(state, f"{BMC_PROCESS}-{shard}", deadline)
    progress(f"{count} BMCs in {shards} processes: ready after {time.monotonic() - started:.1f} s")


def _wait_ready(state: State, name: str, deadline: float) -> None:
    """Wait until a process of BMCs says that it is ready; SimError with the end of its log where it does not."""
    log = state.logs / f"{name}.log"
    while "BMCs are ready" not in log.read_text():
        if time.monotonic() > deadline or not ProcessGroups(state.site).pids(name):
            raise SimError(name, "the BMCs do not start", log.read_text()[-800:], f"read {log}")
        time.sleep(POLL_S)


LEFT_BY_RUNS = (
    *(INVENTORY, "known_hosts", "silent-since.json", "read-at.json", "unread.json"),
    *("locks", "runs", "ssh", "ssh-cheap", "disks", "evidence", "waves"),
)
"""What plays and commands leave in a hall's folder."""


def down(site: str, progress: Progress) -> None:
    """Remove every trace of a hall: processes, namespaces, keys and files; also after a start that was killed."""
    require_root()
    state, started = state_of(site), time.monotonic()
    with state.locked():
        ProcessGroups(state.site).stop_all()
        for mount in mounts_below(state.folder):
            run(["umount", "--lazy", mount])
        remove_namespaces(state.namespace_prefix)
        remove_files(state, LEFT_BY_RUNS)
    state.folder.with_name(f"{state.folder.name}.lock").unlink(missing_ok=True)
    progress(f"the hall of {site} is removed after {time.monotonic() - started:.1f} s")


def status(site: str) -> HallStatus:
    """Return what runs of a hall; SimError where it is not up."""
    state = state_of(site)
    found, switch, groups = machines(site), PowerSwitch(state), ProcessGroups(state.site)
    return HallStatus(
        site=site,
        bmcs=sum(machine.bmc_address is not None for machine in found),
        bmc_processes=sum(bool(groups.pids(name)) for name in _bmc_processes(groups.names())),
        machines=tuple(machine.name for machine in found),
        on=tuple(machine.name for machine in found if switch.is_on(machine)),
        memory_bytes=sum(groups.memory_bytes(name) for name in groups.names()),
    )


def machines(site: str) -> tuple[Machine, ...]:
    """Return the machines of a hall that is up."""
    state = state_of(site)
    records = read_json(state.folder / "machines.json").get("machines")
    if records is None:
        raise SimError(site, "its hall is not up", f"no {state.folder}", f"coldaisle sim hall up {site}")
    return tuple(Machine.from_dict(record) for record in records)


def inside(site: str, command: Sequence[str]) -> list[str]:
    """Return a command line that runs `command` on the deploy host of a hall: this machine, on the hall's network."""
    return [find("nsenter", "util-linux"), f"--net=/run/netns/{state_of(site).namespace(DEPLOY)}", *command]


def environment(site: str) -> dict[str, str]:
    """Return this process's environment, with the hall's inventory for the provider and for Ansible."""
    own = {"COLDAISLE_INVENTORY": str(state_of(site).folder / INVENTORY), "ANSIBLE_INVENTORY_ENABLED": "yaml"}
    return {**os.environ, **own}
