"""
One run of a playbook, in a process of its own.

ansible-runner forks, which a process that serves gRPC must not do, and a run has to end when the provider does, however
that ends. So the provider starts this file, writes one job (JSON, a line) to its standard input and keeps that open:
the end of the input is the order to stop. Events come back on standard output, a JSON object a line.
This process holds the hosts' locks for as long as the playbook runs, even if the provider is killed before it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import shutil
import signal
import sys
import threading
from pathlib import Path
from typing import Any, TextIO

import ansible_runner  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).parents[2]))
from coldaisle.locks import InUseError, lock_all
from components.provider.events import tell

Job = dict[str, Any]
POLL_S = 0.5
PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """
    Become the parent of every process below us that loses its own.

    Ansible runs each task in a session of its own: a task that runs on this machine outlives the death of its group.
    """
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants() -> None:
    """Kill what a stopped playbook has left running on this machine, and wait until it is gone."""
    while children := _children():
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        for child in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def _children() -> list[int]:
    """Return our children, those that we have adopted among them."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            after_name = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(after_name[1]) == os.getpid():
                found.append(int(stat.parent.name))
    return found


def watch_input(stop: threading.Event) -> None:
    """Set `stop` when the provider closes our input, or is gone."""

    def wait() -> None:
        while sys.stdin.readline():
            pass
        stop.set()

    threading.Thread(target=wait, daemon=True).start()


def run(job: Job, out: TextIO, stop: threading.Event) -> None:
    """Run the job's playbook and write its events; the last is of kind `end`, or says why there is none."""

    def write(event: dict[str, Any]) -> None:
        out.write(json.dumps(event) + "\n")
        out.flush()

    def handle(event: dict[str, Any]) -> bool:
        for line in tell(event, collect_facts=job["collect_facts"]):
            write(line)
        return False  # nothing of it is kept on disk

    if job["node"]:
        from components.provider.through import run_through  # noqa: PLC0415 - most runs go through none

        write(run_through(job, handle, stop))
        return
    result = ansible_runner.run(
        private_data_dir=job["folder"],
        project_dir=job["project"],
        playbook=job["playbook"],
        inventory=job["inventory"],
        forks=job["forks"],
        envvars=job["environment"],
        timeout=job["timeout_s"],
        settings={"pexpect_timeout": POLL_S, "suppress_output_file": True},
        suppress_env_files=True,
        quiet=True,
        event_handler=handle,
        cancel_callback=stop.is_set,
    )
    if result.status in {"canceled", "timeout"}:
        end_descendants()
    write({"kind": "end", "status": result.status, "rc": result.rc})


def refuse(out: TextIO, why: str) -> None:
    """Write the event of a run that is not carried on, with why."""
    out.write(json.dumps({"kind": "refused", "why": why}) + "\n")
    out.flush()


def main() -> None:
    """Read the job, run it, and remove what it left on disk."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints must not mix with the events
    job: Job = json.loads(sys.stdin.readline())
    adopt_orphans()
    stop = threading.Event()
    watch_input(stop)
    try:
        locks = lock_all(Path(job["locks"]), job["hosts"], job["what"]) if job["locks"] else []
        run(job, out, stop)
        for lock in locks:
            lock.close()
    except InUseError as error:
        refuse(out, str(error))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        why = f"the disk of {job['folder']} became full in the middle of the run\n  have: {error}\n"
        refuse(out, f"{why}  fix:  make room there, then run again: the hosts that were done stay as they are")
    finally:
        shutil.rmtree(job["folder"], ignore_errors=True)


if __name__ == "__main__":
    main()
