"""Runs a playbook on some hosts of a site: starts the worker, follows its events, stops it, and cleans up."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from coldaisle.locks import FOLDER
from coldaisle.openssh import write_config
from coldaisle.pace import write_settings
from components.provider.events import LINE_LIMIT_BYTES
from components.provider.orphans import MARK, end_run, mark
from components.provider.outcome import Collector, RunResult
from components.provider.room import NoRoomError, require_room
from components.provider.site import ExecutionNode, Site, playbooks_dir

WORKER = Path(__file__).with_name("worker.py")
READER = Path(__file__).with_name("reader.py")
"""Reads facts without a run of Ansible; it takes the same job, and tells the same events."""

STOP_GRACE_S = 20
"""How long a worker may take to stop its playbook before it is killed."""

NODE_GRACE_S = 60
"""How much longer where an execution node has to end it: until its connection is given up, and its lease is over."""

SOCKET_PATH_LIMIT, SOCKET_NAME_CHARACTERS = 104, 30
"""Bytes of a Unix socket's path (sun_path), and what Ansible and ssh add to the folder's name."""

KEPT_ALIVE = "-o ServerAliveInterval=5 -o ServerAliveCountMax=6"

Event = dict[str, Any]


Runner = Callable[["Job", asyncio.Event, Callable[[Event], None]], Awaitable[RunResult]]
"""Runs a job to its end, or until it is told to stop, and hands on its events: `run_playbook`, or a rehearsal of it."""


class RunError(Exception):
    """A run could not be started, or ended without saying how; the message is complete."""


class NodeLostError(RunError):
    """The execution node of a run was lost; nothing of the run is left there. `result` has what was told until then."""

    def __init__(self, why: str, result: RunResult) -> None:
        """Take why, and what is known."""
        super().__init__(why)
        self.result = result


@dataclass(frozen=True, slots=True)
class Job:
    """
    A playbook (its path below the playbooks' folder, without `.yml`) on some hosts of a site.

    `what` names the run to others who find a host locked; `lock` is False for runs that only read, and `secrets` for
    those that send hosts none: they log in more cheaply. `groups` are groups of its hosts, over those of the site.
    `settings` are Ansible's, as environment variables, over those that every run has. `worker` is the program that does
    it. `node` is the execution node that the run goes through; None runs it on this machine.
    """

    site: Site
    playbook: str
    hosts: tuple[str, ...]
    what: str
    forks: int = 25
    timeout_s: int = 3600
    lock: bool = True
    collect_facts: bool = False
    secrets: bool = True
    host_variables: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    worker: Path = WORKER
    node: ExecutionNode | None = None


async def run_playbook(job: Job, stop: asyncio.Event, on_event: Callable[[Event], None]) -> RunResult:
    """
    Run the job to its end, or until `stop` is set.

    Raises:
        RunError: a disk is full, there is no ansible-playbook, a host is in use by another run, or the worker died.
        NodeLostError: the execution node did not answer, or was lost in the middle.

    """
    try:
        if job.lock:  # what only reads has nothing to lose
            require_room(job.site.state)
        message = _message(job)
    except NoRoomError as error:
        raise RunError(str(error)) from None
    except OSError as error:
        raise RunError(f"cannot write into the state folder of site {job.site.name}: {error}") from None
    worker = await asyncio.create_subprocess_exec(
        sys.executable,
        str(job.worker),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=worker_environment(),
        limit=LINE_LIMIT_BYTES,
        start_new_session=True,
    )
    assert worker.stdin is not None  # noqa: S101 - asked for above
    worker.stdin.write(json.dumps(message).encode() + b"\n")
    stopper = asyncio.create_task(_stop_when_asked(worker, stop))
    try:
        return await _follow(job, worker, on_event)
    finally:
        stopper.cancel()
        worker.stdin.close()
        await _ended(worker, STOP_GRACE_S + (NODE_GRACE_S if job.node else 0))
        await asyncio.to_thread(_clean_up, Path(message["folder"]))


def _clean_up(folder: Path) -> None:
    """End what a killed worker has left: one that ends by itself removes its folder, and leaves nothing running."""
    if folder.exists():
        end_run(folder)


def worker_environment() -> dict[str, str]:
    """Return our environment for Ansible: our tools first on PATH, and nothing of the engine's (its passphrase!)."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PULUMI_")}
    return own | {"PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"}


def _message(job: Job) -> dict[str, Any]:
    if shutil.which("ansible-playbook", path=worker_environment()["PATH"]) is None:
        raise RunError(
            "there is no ansible-playbook, beside this Python or on PATH\n"
            f"  have: {sys.executable}\n  fix:  run 'make setup', or install the package ansible there"
        )
    playbooks = playbooks_dir()
    folder = _private_folder(job.site)
    return {
        "folder": str(folder),
        "project": str(playbooks),
        "playbook": str(playbooks / f"{job.playbook}.yml"),
        "inventory": job.site.of_hosts(list(job.hosts), job.host_variables, job.groups),
        "hosts": list(job.hosts),
        "forks": job.forks,
        "timeout_s": job.timeout_s,
        "environment": _ansible_settings(job, playbooks, folder),
        "locks": str(job.site.state / FOLDER) if job.lock else None,
        "what": job.what,
        "collect_facts": job.collect_facts,
        "node": asdict(job.node) if job.node else None,
        "state": str(job.site.state),
    }


def _private_folder(site: Site) -> Path:
    """Make the folder of one run, and remove those that killed runs have left."""
    runs = site.state / "runs"
    runs.mkdir(parents=True, exist_ok=True, mode=0o700)
    for left in runs.iterdir():
        if not Path(f"/proc/{left.name.split('-')[0]}").exists():
            end_run(left)
    folder = runs / f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
    folder.mkdir(mode=0o700)
    return folder


def _ansible_settings(job: Job, playbooks: Path, folder: Path) -> dict[str, str]:
    """Return Ansible's settings of a run; what the project's ansible.cfg sets stays as it is."""
    cheap = not job.secrets and job.node is None  # an execution node has an OpenSSH of its own
    # Where a cheap login is left open, a run that sends secrets must not find it.
    sockets = job.site.state / ("ssh-cheap" if cheap else "ssh")
    sockets.mkdir(parents=True, exist_ok=True, mode=0o700)
    settings = {
        "ANSIBLE_COLLECTIONS_PATH": str(playbooks / "collections"),
        "ANSIBLE_ROLES_PATH": str(playbooks / "roles"),
        MARK: mark(folder),
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(sockets),
        "ANSIBLE_SSH_ARGS": f"{write_config(folder / 'ssh_config') if cheap else ''} {_sharing(sockets)} {KEPT_ALIVE}",
        "ANSIBLE_HOST_KEY_CHECKING": "True",  # ansible-runner's own default accepts every key, a changed one too
        "ANSIBLE_INVENTORY_ENABLED": "yaml",
        "ANSIBLE_PIPELINING": "True",
        "ANSIBLE_NOCOLOR": "True",
        "ANSIBLE_RETRY_FILES_ENABLED": "False",
        "ANSIBLE_DEVEL_WARNING": "False",
        "ANSIBLE_INJECT_FACT_VARS": "False",  # no role reads facts so, and making variables of them costs each task
    }
    own, config = playbooks.parent / "ansible.cfg", folder / "ansible.cfg"
    write_settings(config, len(job.hosts), own)
    # An installed package has no such file, which says why this strategy.
    given = {} if own.is_file() else {"ANSIBLE_STRATEGY": "host_pinned"}
    return settings | {"ANSIBLE_CONFIG": str(config)} | given | job.settings


def _sharing(sockets: Path) -> str:
    """Share a host's connection among tasks, unless the path of its socket would be longer than the kernel takes."""
    longest = len(str(sockets)) + SOCKET_NAME_CHARACTERS
    return "-o ControlMaster=auto -o ControlPersist=30s" if longest < SOCKET_PATH_LIMIT else "-o ControlMaster=no"


async def _follow(job: Job, worker: asyncio.subprocess.Process, on_event: Callable[[Event], None]) -> RunResult:
    assert worker.stdout is not None  # noqa: S101 - asked for at its start
    collector = Collector(job.hosts, job.timeout_s)
    errors = asyncio.create_task(_tail(worker))
    async for line in worker.stdout:
        event = json.loads(line)
        if event["kind"] == "refused":
            raise RunError(event["why"])
        if event["kind"] == "lost":
            errors.cancel()
            raise NodeLostError(event["why"], collector.result)
        if event["kind"] == "end":
            errors.cancel()
            return collector.end(event["status"], event["rc"])
        collector.add(event)
        on_event(event)
    text = await errors
    raise RunError(
        f"the run of playbook {job.playbook} ended without a result (exit code {await worker.wait()})\n  have: {text}\n"
        f"  fix:  if it was killed, run again; the hosts that were done stay as they are"
    )


async def _tail(worker: asyncio.subprocess.Process) -> str:
    """Return the last lines of the worker's standard error, read to its end so that it never blocks on it."""
    assert worker.stderr is not None  # noqa: S101 - asked for at its start
    lines: list[str] = []
    async for line in worker.stderr:
        lines = [*lines[-7:], line.decode(errors="replace").strip()]
    return " | ".join(lines) or "nothing was printed"


async def _stop_when_asked(worker: asyncio.subprocess.Process, stop: asyncio.Event) -> None:
    """Close the worker's input when a stop is asked for: it then stops its playbook by itself."""
    await stop.wait()
    if worker.stdin is not None:
        worker.stdin.close()


async def _ended(worker: asyncio.subprocess.Process, grace_s: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        try:
            await asyncio.wait_for(worker.wait(), grace_s)
        except TimeoutError:
            os.killpg(worker.pid, signal.SIGKILL)
            await worker.wait()
