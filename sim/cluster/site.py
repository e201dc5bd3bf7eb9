"""
Start, stop and look at the simulated control plane.

`up` writes what the processes read, starts one supervisor for all of them, and waits until the API server is ready
and holds what hosts need to join. It may be called again at any time: what is there and right is left alone.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.cluster import bootstrap, kwok, prometheus
from sim.cluster.api import Api, ApiError, resource_path
from sim.cluster.identity import ensure_identities
from sim.cluster.layout import Layout, layout_of
from sim.cluster.processes import processes
from sim.cluster.tools import find_tool
from sim.errors import SimError
from sim.shell import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldaisle.plan.model import SitePlan

START_S = 240.0
"""How long the start may take: ten seconds alone, a minute beside a build of the tools."""
STOP_S = 30.0
POLL_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStatus:
    """
    One process of the control plane, or a pod that is a program.

    `pid` is None when it does not run; memory is resident, in bytes.
    """

    name: str
    pid: int | None
    memory_bytes: int | None
    log: Path
    is_pod: bool


def up(plan: SitePlan, state: Path, progress: Callable[[str], None]) -> Layout:
    """
    Start the control plane of a plan and return its layout once hosts can join.

    The namespace and its address must exist (the simulated network makes them). Raises SimError with what to do.
    """
    layout = layout_of(plan, state)
    start(layout, progress)
    return layout


def down(plan: SitePlan | None, state: Path) -> None:
    """Stop the control plane and delete what it wrote. Nothing to stop is no error; the plan is not needed."""
    del plan
    stop(state)


def status(plan: SitePlan, state: Path) -> tuple[ProcessStatus, ...]:
    """Return how each process is, in the order of the start."""
    return process_status(layout_of(plan, state))


def start(layout: Layout, progress: Callable[[str], None]) -> None:
    """Start the control plane of a layout; see `up`."""
    _prepare_namespace(layout)
    ensure_identities(layout)
    changed = _write_configuration(layout)
    running = _supervisor_pid(layout.folder)
    if running is not None and changed:
        progress("control plane: settings changed, starting again")
        _end(running, layout.folder)
        running = None
    if running is None:
        progress("control plane: starting etcd, API server, controllers, scheduler, KWOK, Prometheus")
        _start_supervisor(layout)
    since = time.monotonic()
    asyncio.run(_wait_and_bootstrap(layout))
    progress(f"control plane: ready at {layout.api_url} after {time.monotonic() - since:.1f} s")


def stop(state: Path) -> None:
    """Stop what runs from a state folder and delete its files; see `down`."""
    folder = state / "cluster"
    pid = _supervisor_pid(folder)
    if pid is not None:
        _end(pid, folder)
    for path in (folder, state / "pki" / "cluster"):
        shutil.rmtree(path, ignore_errors=True)
    for name in ("admin.kubeconfig", "bootstrap-token"):
        (state / "secrets" / name).unlink(missing_ok=True)


def process_status(layout: Layout) -> tuple[ProcessStatus, ...]:
    """Return how each process of a layout is: the control plane's own, then the pods that are programs."""
    pods = sorted(path.stem for path in layout.run.glob("pod-*.pid"))
    own = ["supervisor", *(process["name"] for process in _records(layout.folder))]
    return (
        *(_one_status(layout, name, is_pod=False) for name in own),
        *(_one_status(layout, name, is_pod=True) for name in pods),
    )


def _one_status(layout: Layout, name: str, *, is_pod: bool) -> ProcessStatus:
    pid = _live_pid(layout.run / f"{name}.pid")
    memory = None if pid is None else memory_bytes(pid)
    return ProcessStatus(name=name, pid=pid, memory_bytes=memory, log=layout.logs / f"{name}.log", is_pod=is_pod)


def memory_bytes(pid: int) -> int | None:
    """Return the resident memory of a process, in bytes; None when it is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return None


def _prepare_namespace(layout: Layout) -> None:
    if not Path(f"/run/netns/{layout.namespace}").exists():
        have = f"no namespace {layout.namespace}"
        raise SimError("control plane", "the simulated network is not up", have, "run `coldaisle sim up` first")
    inside = ["ip", "-n", layout.namespace]
    run([*inside, "link", "set", "lo", "up"])
    if not layout.real_nodes:
        run([*inside, "route", "replace", "local", layout.pod_cidr, "dev", "lo"])


def _write_configuration(layout: Layout) -> bool:
    """Write what the processes read and say whether the supervisor must start again for it."""
    layout.logs.mkdir(parents=True, exist_ok=True)
    records = [asdict(process) for process in processes(layout, find_tool)]
    files = {
        "kwok.yaml": "\n---\n".join(json.dumps(stage) for stage in kwok.stages()),
        "prometheus.yaml": json.dumps(prometheus.configuration(layout), indent=1),
        "layout.json": json.dumps(asdict(layout), default=str, indent=1),
        "code.sha256": _code_digest(),  # a running agent of an older release must not stay
        "processes.json": json.dumps(records, default=str, indent=1),
    }
    stale = {name: text for name, text in files.items() if _differs(layout.folder / name, text)}
    for name, text in stale.items():
        (layout.folder / name).write_text(text)
    return bool(stale)


def _code_digest() -> str:
    folder = Path(__file__).parent
    contents = (path.read_bytes() for path in sorted(folder.rglob("*")) if path.suffix in {".py", ".yaml"})
    return hashlib.sha256(b"\0".join(contents)).hexdigest()


def _differs(path: Path, text: str) -> bool:
    return not path.exists() or path.read_text() != text


def _records(folder: Path) -> list[dict[str, Any]]:
    with suppress(OSError):
        return list(json.loads((folder / "processes.json").read_text()))
    return []


def _start_supervisor(layout: Layout) -> None:
    program = Path(__file__).with_name("supervisor.py")
    inside = ["nsenter", f"--net=/run/netns/{layout.namespace}"]
    with (layout.logs / "supervisor.log").open("ab") as log:
        subprocess.Popen(
            [*inside, sys.executable, "-S", str(program), str(layout.folder)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/",
        )  # fmt: skip


async def _wait_and_bootstrap(layout: Layout) -> None:
    deadline = time.monotonic() + START_S
    async with Api(layout.admin_kubeconfig) as api:
        while not await _ready(api):
            if time.monotonic() > deadline:
                raise _not_ready(layout)
            await asyncio.sleep(POLL_S)
        token = layout.bootstrap_token.read_text().strip()
        for manifest in bootstrap.manifests(token):
            await api.apply(resource_path(manifest), manifest)
    while not all(_live_pid(layout.run / f"{record['name']}.pid") for record in _records(layout.folder)):
        if time.monotonic() > deadline:
            raise _not_ready(layout)
        await asyncio.sleep(POLL_S)


async def _ready(api: Api) -> bool:
    with suppress(OSError, ApiError, TimeoutError):
        return (await api.request("GET", "/readyz")).get("text") == "ok"
    return False


def _not_ready(layout: Layout) -> SimError:
    down_now = [process.name for process in process_status(layout) if process.pid is None]
    have = f"not running: {', '.join(down_now) or 'none, but the API server does not say that it is ready'}"
    return SimError("control plane", f"it is not ready after {START_S:.0f} s", have, f"read {layout.logs}/*.log")


def _supervisor_pid(folder: Path) -> int | None:
    """Return the supervisor's pid, if the process with that pid is the supervisor of this very folder."""
    pid = _live_pid(folder / "run" / "supervisor.pid")
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if str(folder).encode() in words:
            return pid
    return None


def _live_pid(path: Path) -> int | None:
    with suppress(OSError, ValueError):
        pid = int(path.read_text())
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
        return None if state == "Z" else pid
    return None


def _end(pid: int, folder: Path) -> None:
    """End the supervisor, and with it its children; after STOP_S each is killed by its own pid."""
    pids = [pid, *filter(None, (_live_pid(path) for path in (folder / "run").glob("*.pid")))]
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_S
    while time.monotonic() < deadline and _alive(pid):
        time.sleep(POLL_S)
    for left in filter(_alive, pids):
        with suppress(ProcessLookupError):
            os.kill(left, signal.SIGKILL)


def _alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1] != "Z"
    return False
