"""A whole site: start it from its plan, say what runs, and remove every trace of it."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from coldaisle.paths import cache_dir, state_dir
from coldaisle.plan.model import SitePlan
from sim.endpoints import Endpoint, endpoints
from sim.fabric import remove_sockets, start_switches
from sim.image import kubelet
from sim.image.build import Image, ensure_image
from sim.machines import Machine, machines
from sim.mounts import mounts_below
from sim.network import connect, disconnect, namespaces, wiring
from sim.power import PowerSwitch
from sim.processes import ProcessGroups
from sim.requirements import require_machine, require_root
from sim.secrets import ensure_secrets
from sim.services import install_machines
from sim.shell import run
from sim.state import State, read_json, write_json

Progress = Callable[[str], None]

BMC_PROCESS = "bmc"
DEFAULT_IMAGE = "debian-12-netboot"
PROJECT = Path(__file__).resolve().parents[1]

OWN_FOLDERS = ("logs", "pki", "secrets", "keys", "machines", "bmc", "faults", "switches", "machines.json")
"""What the simulation makes in the state folder; what others keep there is left alone."""


@dataclass(frozen=True, slots=True)
class SiteStatus:
    """What runs of a site. `memory_bytes` is of all its processes, what they share counted once."""

    site: str
    endpoints: tuple[Endpoint, ...]
    memory_bytes: int

    @property
    def is_up(self) -> bool:
        """Whether all that is always on is on."""
        return all(endpoint.state == "up" for endpoint in self.endpoints if endpoint.always_on)


def state_of(name: str) -> State:
    """Return the state of a site by its name."""
    return State(name, state_dir(name))


def up(plan: SitePlan, progress: Progress) -> SiteStatus:
    """
    Start what does not run of a site: a second call repairs and changes nothing else.

    Raises SimError when this machine cannot carry the site, or when another process starts or stops it now.
    """
    require_root()
    state = state_of(plan.name)
    with state.locked():
        require_machine()
        if not state.machines.exists():
            _forget_machines(state)
        state.make_folders()
        ensure_secrets(plan, state)
        image = _ensure_images(plan, progress)
        made = connect(state.namespace_prefix, wiring(plan))
        progress(f"network: {len(namespaces(state.namespace_prefix))} namespaces, {made} new cables")
        found = _prepare_machines(plan, state, image)
        progress(f"fabric: {start_switches(plan, state)} switches started")
        _start_service_host(plan, state, found, progress)
        _start_bmcs(state, progress)
        _start_cluster(plan, state, progress)
        return status(plan)


def _forget_machines(state: State) -> None:
    """Forget what the deploy host knows of machines of before: the new ones have host keys and disks of their own."""
    (state.folder / "known_hosts").unlink(missing_ok=True)
    shutil.rmtree(state.folder / "disks", ignore_errors=True)


def _ensure_images(plan: SitePlan, progress: Progress) -> Image:
    """Build every image that the plan names, and return the plain one, which light hosts lie on."""
    cache = cache_dir() / "images"
    named = [image.name for image in plan.provisioning.images] if plan.provisioning else []
    if kubelet.IMAGE in named:
        ensure_image(cache, kubelet.IMAGE, progress, _find_tool)
    plain = next((name for name in named if name != kubelet.IMAGE), DEFAULT_IMAGE)
    return ensure_image(cache, plain, progress, _find_tool)


def _find_tool(name: str) -> str:
    """Return the path of a program of the toolchain; its module lies in the package that is loaded late."""
    path: str = importlib.import_module("sim.cluster.tools").find_tool(name)
    return path


def _prepare_machines(plan: SitePlan, state: State, image: Image) -> tuple[Machine, ...]:
    """Write down the machines for the BMCs; their process starts again when something changed."""
    found = machines(plan, state, image.layers)
    install_machines(plan, state, found)
    # Compared as it is after a way through JSON, which has no tuples.
    record = json.loads(json.dumps({"machines": [machine.as_dict() for machine in found]}))
    if read_json(state.folder / "machines.json") != record:
        write_json(state.folder / "machines.json", record)
        ProcessGroups(state.site).stop(BMC_PROCESS)
    return found


def _start_service_host(plan: SitePlan, state: State, found: Sequence[Machine], progress: Progress) -> None:
    if plan.provisioning is None:
        return
    host = next(machine for machine in found if machine.name == plan.provisioning.host)
    switch = PowerSwitch(state)
    if not switch.is_on(host):
        switch.turn_on(host)
        progress(f"{host.name}: started at {plan.provisioning.host_address}")


def _start_bmcs(state: State, progress: Progress) -> None:
    groups = ProcessGroups(state.site)
    if groups.pids(BMC_PROCESS):
        return
    command = [sys.executable, "-m", "sim.bmc.server", state.site, str(state.folder)]
    variables = {"PYTHONPATH": str(PROJECT)}
    log = state.logs / "bmc.log"
    groups.start(BMC_PROCESS, command, log, namespace=state.namespace("bmc"), extra_environment=variables)
    progress("BMCs: IPMI and Redfish started")


def _cluster() -> ModuleType:
    """Return the module of the control plane; it is loaded late, since most commands do without."""
    return importlib.import_module("sim.cluster")


def _start_cluster(plan: SitePlan, state: State, progress: Progress) -> None:
    if plan.cluster is not None:
        _cluster().up(plan, state.folder, progress)


def down(name: str, progress: Progress) -> None:
    """Remove every trace of a site but the cache: processes, mounts, namespaces, links and files."""
    require_root()
    state = state_of(name)
    with state.locked():
        started = time.monotonic()
        _cluster().down(None, state.folder)
        ProcessGroups(name).stop_all()
        for mount in mounts_below(state.folder):
            run(["umount", "--lazy", mount])
        disconnect(state.namespace_prefix, name)
        remove_sockets(state)
        remove_files(state)
        progress(f"everything of {name} is removed after {time.monotonic() - started:.1f} s")
    state.folder.with_name(f"{state.folder.name}.lock").unlink(missing_ok=True)


def remove_files(state: State, more: Sequence[str] = ()) -> None:
    """Delete what the simulation wrote, and `more`; the folder itself goes when nothing else is in it."""
    for name in (*OWN_FOLDERS, *more):
        path = state.folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    if state.folder.exists() and not any(state.folder.iterdir()):
        state.folder.rmdir()


def status(plan: SitePlan) -> SiteStatus:
    """Return what runs of a site; nothing is changed."""
    state = state_of(plan.name)
    groups = ProcessGroups(plan.name)
    cluster = tuple(_cluster().status(plan, state.folder)) if plan.cluster is not None else ()
    memory = sum(groups.memory_bytes(name) for name in groups.names())
    memory += sum(process.memory_bytes or 0 for process in cluster)
    return SiteStatus(plan.name, endpoints(plan, state, cluster), memory)
