"""
What runs on an execution node around ansible-runner's worker: `python -c TEXT ORDER`, started over SSH.

It looks whether the node has what a run needs, makes the run's folder in memory, starts the worker, and passes on what
comes from the runner. The order to stop is the end of the input, or silence: a runner that is cut off is not heard, and
after `lease_s` the worker ends here, so that the runner may give its hosts to another node. A process of its own (the
janitor) ends what is left and removes the folder, however this one and the worker end.

Standard Python only, and of this project only `orphans`, which the runner sends along.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import stat
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.provider.orphans import MARK, end_run, mark

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMORY = Path("/dev/shm")  # noqa: S108 - memory, and the folder below it is its owner's alone
"""Where every Linux with glibc has a tmpfs (shm_overview(7))."""

NEEDED_BYTES = 64 << 20
"""A run's folder has some 3 MiB (playbooks, inventory, Ansible's own files); our figure, with much to spare."""

POLL_S = 0.2
MISSING, SILENCED = 69, 75
"""Exit codes: the node lacks something, and the runner was not heard any more (sysexits.h: unavailable, try again)."""


def missing(versions: dict[str, str], base: Path) -> Iterator[dict[str, str]]:
    """Yield what the node lacks: `what`, `have` and `fix`."""
    for package, version in versions.items():
        try:
            have = metadata.version(package)
        except metadata.PackageNotFoundError:
            have = "none"
        if have != version:
            where = f"{sys.executable} has {package} {have}"
            fix = f"{sys.executable} -m pip install {package}=={version}, or name another 'python' of the node"
            yield {"what": f"{package} {version} is needed, the version of the runner", "have": where, "fix": fix}
    if shutil.which("ssh") is None:
        yield {"what": "there is no ssh", "have": os.environ["PATH"], "fix": "install OpenSSH's client there"}
    yield from _missing_memory(base)


def _missing_memory(base: Path) -> Iterator[dict[str, str]]:
    mounts = [line.split()[1:3] for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    if [str(MEMORY), "tmpfs"] not in mounts:
        fix = f"mount a tmpfs on {MEMORY}: secrets of a run must never be on a disk"
        yield {"what": f"{MEMORY} is no memory", "have": "another file system, or none", "fix": fix}
        return
    free = shutil.disk_usage(MEMORY).free
    if free < NEEDED_BYTES:
        have = f"{free >> 20} MiB free, of {NEEDED_BYTES >> 20} MiB that a run needs"
        yield {"what": f"{MEMORY} is full", "have": have, "fix": "make room there"}
    with contextlib.suppress(FileExistsError):
        base.mkdir(mode=0o700)
    found = base.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        have = f"owner {found.st_uid}, mode {stat.filemode(found.st_mode)}"
        yield {"what": f"{base} is not ours alone", "have": have, "fix": "see who made it, and remove it"}


def make_folder(base: Path, name: str) -> tuple[Path, int]:
    """
    Make the folder of a run, and remove those that a crash of the node's processes has left.

    Returns:
        The folder, and a descriptor that holds its lock for as long as somebody answers for it.

    """
    turn = os.open(base, os.O_RDONLY)
    fcntl.flock(turn, fcntl.LOCK_EX)
    for left in base.iterdir():
        held = _lock(left)
        if held is not None:
            end_run(left, connections=True)
            os.close(held)
    folder = base / name
    (folder / "tmp").mkdir(parents=True, mode=0o700)
    folder.chmod(0o700)
    lock = _lock(folder)
    os.close(turn)
    if lock is None:
        raise RuntimeError(f"{folder} is in use")
    return folder, lock


def _lock(folder: Path) -> int | None:
    """Return a descriptor with the lock of a folder; None where somebody has it."""
    found = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(found)
        return None
    return found


def start_janitor(folder: Path) -> tuple[int, int]:
    """Return the process that cleans up, and the pipe by whose end it knows that it is time."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid:
        os.close(ours)
        return pid, theirs
    os.setsid()
    os.close(theirs)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.read(ours, 1)
    try:
        end_run(folder, connections=True)
    finally:
        os._exit(0)


def start_worker(folder: Path) -> subprocess.Popen[bytes]:
    """Start ansible-runner's worker: its files, and those of all that it starts, lie in the run's folder."""
    own = {MARK: mark(folder), "TMPDIR": str(folder / "tmp")}
    words = [sys.executable, "-m", "ansible_runner", "worker", "--private-data-dir", str(folder)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, env={**os.environ, **own}, start_new_session=True)


def attend(worker: subprocess.Popen[bytes], lease_s: float) -> int:
    """Pass on what comes until the worker ends, the input does, or nothing has come for `lease_s`."""
    heard = _now()
    while worker.poll() is None:
        if select.select([0], [], [], POLL_S)[0]:
            part = os.read(0, 65536)
            if not part:
                return SILENCED
            heard = _now()
            _feed(worker, part)
        if _now() - heard > lease_s:
            return SILENCED
    return 1 if worker.returncode else 0


def _now() -> float:
    """Return seconds that go on while a machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _feed(worker: subprocess.Popen[bytes], part: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):  # it has ended, which the next look finds
        if worker.stdin is not None:
            worker.stdin.write(part)
            worker.stdin.flush()


def main(order: dict[str, Any]) -> int:
    """Say what this node is, run one worker, and return the exit code, which comes when all of it is gone."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
    os.umask(0o077)
    base = MEMORY / f"coldaisle-{os.getuid()}"
    lacks = list(missing(order["versions"], base))
    if lacks:
        print(json.dumps({"missing": lacks}), flush=True)  # noqa: T201 - the answer
        return MISSING
    folder, _lock_of_it = make_folder(base, order["run"])
    janitor, pipe = start_janitor(folder)
    print(json.dumps({"folder": str(folder)}), flush=True)  # noqa: T201 - the answer
    worker = start_worker(folder)
    code = attend(worker, order["lease_s"])
    os.close(pipe)
    os.waitpid(janitor, 0)
    return code


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
