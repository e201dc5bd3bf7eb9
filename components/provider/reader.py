"""
A read of many hosts without a run of Ansible, in a process of its own.

What a host tells itself is asked by one ssh, whose standard input is the very program that Ansible's action would send
there. It is started and stopped as a run is (worker.py), and writes the same events; a host that only Ansible can read
is told in an event of kind `pass`, with the reason.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.remove(str(Path(__file__).parent))  # it would hide modules of others
from components.provider.asking import SilentError, run_program
from components.provider.children import Children
from components.provider.events import message
from components.provider.logins import Login, OnlyAnsible, login_of

Job = dict[str, Any]
Tell = Callable[[dict[str, Any]], None]
COLLECTION = Path("collections/ansible_collections/coldaisle/site")
WANTED, ACCESS = "read_facts", "read_{}_access"
"""Names of the variables that the role `read` takes."""

TASK = "Read | BMC, cluster, switch and host"


@dataclass(slots=True)
class Host:
    """A host that is read here: its login, what others are asked of it, what it tells itself, and if it is silent."""

    name: str
    login: Login
    askings: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    silent: bool = False


def hosts_of(job: Job, tell: Tell) -> list[Host]:
    """Return the hosts that can be read here; of each other one it is told why not."""
    if not (Path(job["project"]) / COLLECTION).is_dir():
        for name in job["hosts"]:
            tell({"kind": "pass", "host": name, "why": "its playbooks are not those of the product"})
        return []
    found = []
    for name in job["hosts"]:
        variables = job["inventory"]["all"]["hosts"][name]
        login = login_of(name, variables)
        if isinstance(login, OnlyAnsible):
            tell({"kind": "pass", "host": name, "why": login.why})
        else:
            found.append(_host(name, login, variables))
    return found


def _host(name: str, login: Login, variables: Mapping[str, Any]) -> Host:
    from ansible_collections.coldaisle.site.plugins.filter.facts import host_facts  # noqa: PLC0415 - with Ansible only
    from ansible_collections.coldaisle.site.plugins.plugin_utils.elsewhere import askings  # noqa: PLC0415

    wanted = variables[WANTED]
    accesses = {teller: variables.get(ACCESS.format(teller)) or {} for teller in ("bmc", "node", "switch")}
    return Host(name, login, list(askings(wanted, accesses)), [] if accesses["switch"] else host_facts(wanted))


async def read(host: Host, turns: asyncio.Semaphore, children: Children, tell: Tell) -> None:
    """Ask a host, and all who tell something of it, and tell what was said. One that is silent is told as that."""
    facts: dict[str, Any] = {}
    errors: dict[str, str] = {}
    why_silent = ""

    async def elsewhere() -> None:
        async with turns:
            found, why = await _told_of(host, children)
        facts.update(found)
        errors.update(why)

    async def itself() -> None:
        nonlocal why_silent
        async with turns:
            try:
                found = await _told_by(host)
            except SilentError as error:
                host.silent, why_silent = True, message({"msg": str(error)})
                return
        facts.update(found.get("facts", {}))
        errors.update(found.get("errors", {}))
        if found.get("failed"):
            errors.update(dict.fromkeys(host.names, str(found["msg"])))

    async with asyncio.TaskGroup() as tasks:
        if host.askings:
            tasks.create_task(elsewhere())
        if host.names:
            tasks.create_task(itself())
    tell({"kind": "facts", "host": host.name, "facts": facts, "errors": errors})
    state = {"state": "unreachable" if host.silent else "ok", "message": why_silent}
    tell({"kind": "task", "host": host.name, "task": TASK, "where": "", **state})


async def _told_of(host: Host, children: Children) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what BMC, cluster and switch tell of a host."""
    try:
        answers = await children.ask(host.askings)
    except ChildProcessError as error:
        return {}, {name: f"the question: {error}" for asking in host.askings for name in asking.names}
    facts, errors = (
        {name: value for part in parts for name, value in part.items()} for parts in zip(*answers, strict=True)
    )
    return facts, errors


def _ask(askings: list[list[Any]]) -> list[Any]:
    """Ask others of a host, in a child; the fields of an Asking come as a list."""
    from ansible_collections.coldaisle.site.plugins.plugin_utils.elsewhere import Asking, ask  # noqa: PLC0415 - see above

    return [ask(Asking(*asking)) for asking in askings]


async def _told_by(host: Host) -> dict[str, Any]:
    """Return what a host tells itself, in the form of the program's result."""
    from ansible_collections.coldaisle.site.plugins.plugin_utils import packing  # noqa: PLC0415 - with Ansible only

    kinds = {name.partition(".")[0] for name in host.names}
    sent = packing.script("read", {"facts": host.names}, check=False, kinds=kinds)
    return packing.answer(*await run_program(host.login, sent))


async def read_all(job: Job, hosts: Iterable[Host], tell: Tell) -> str:
    """Read the hosts, as many at once as the job has forks, and return how that ended, in ansible-runner's words."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), partial(_look, stopped))
    turns, children = asyncio.Semaphore(job["forks"]), Children(_ask)

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as tasks:
            for host in hosts:
                tasks.create_task(read(host, turns, children, tell))

    reading, stop = asyncio.create_task(all_of_them()), asyncio.create_task(stopped.wait())
    either: set[asyncio.Task[Any]] = {reading, stop}
    await asyncio.wait(either, timeout=job["timeout_s"], return_when=asyncio.FIRST_COMPLETED)
    loop.remove_reader(sys.stdin.fileno())
    stop.cancel()
    children.end()
    if reading.done():
        reading.result()
        return "successful"
    reading.cancel()
    await asyncio.wait({reading})
    return "canceled" if stopped.is_set() else "timeout"


def _look(stopped: asyncio.Event) -> None:
    """Take the end of the input, the order to stop, for what it is; nothing else comes."""
    if not os.read(sys.stdin.fileno(), 4096):
        stopped.set()


def run(job: Job, tell: Tell) -> None:
    """Read what can be read here, and tell the end."""
    os.environ.update(job["environment"])
    os.chdir(job["project"])
    hosts = hosts_of(job, tell)
    if hosts:
        from ansible_collections.coldaisle.site.plugins.plugin_utils.elsewhere import load  # noqa: PLC0415 - see above

        load([asking for host in hosts for asking in host.askings])
    gc.freeze()  # what is there now is never freed: a child that looks would copy it
    if sys.version_info < (3, 12):
        asyncio.set_child_watcher(asyncio.PidfdChildWatcher())  # later ones have no thread a child by themselves
    status = asyncio.run(read_all(job, hosts, tell))
    if status == "successful":
        silent = [host.name for host in hosts if host.silent]
        tell({"kind": "stats", "processed": [host.name for host in hosts], "failed": [], "unreachable": silent})
    tell({"kind": "end", "status": status, "rc": 0})


def main() -> None:
    """Read the job, do it, and remove what it left on disk."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints must not mix with the events
    job: Job = json.loads(sys.stdin.buffer.readline())

    def tell(event: dict[str, Any]) -> None:
        out.write(json.dumps(event) + "\n")
        out.flush()

    try:
        run(job, tell)
    finally:
        shutil.rmtree(job["folder"], ignore_errors=True)


if __name__ == "__main__":
    main()
