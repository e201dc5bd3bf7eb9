"""
Firmware of a machine by its BMC: what is installed, and updates that are followed to their end.

An update is over when its Task says so, not when the BMC looks idle: some are idle while the task is starting or
running (ironic's release note fix-firmware-update-when-task-remains-running). A BMC that updates itself goes away in
between and may forget the task; what counts in the end is the version that it shows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import ROOT, Service, link, status_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import change_record, read_record, record_path

Answer = TypeVar("Answer")

POLL_S = 5.0
DONE = "Completed"
ENDED = {DONE, "Killed", "Exception", "Cancelled"}
"""States that a Task never leaves (DSP2046, Task); all others, known or not, are states of one that goes on."""

AWAY = {"no-answer", "no-connection", "busy", "unexpected-answer"}
"""What a BMC looks like while it starts again."""

ACTION = "#UpdateService.SimpleUpdate"


@dataclass(frozen=True)
class Wanted:
    """A version of one item of the firmware inventory, and the image that brings it."""

    name: str
    version: str
    image: str
    target: str | None = None


def inventory(service: Service) -> dict[str, dict[str, Any]]:
    """Return the items of the firmware inventory by their ids."""
    folder = link(_update_service(service), "FirmwareInventory")
    return {str(item.get("Id") or item["@odata.id"].rpartition("/")[2]): item for item in service.members(folder)}


def versions(service: Service) -> dict[str, str]:
    """Return the version of each item that has one."""
    return {name: str(item["Version"]) for name, item in inventory(service).items() if item.get("Version")}


def different(service: Service, wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, str]]:
    """
    Yield the items whose version is another one, each with the version that is there.

    Raises:
        BmcError: the BMC has no such item, and its message lists those that there are.

    """
    there = versions(service)
    for item in wanted:
        if item.name not in there:
            known = ", ".join(sorted(there)) or "none"
            raise BmcError("no-such-firmware", f"the BMC has no {item.name}; it shows {known}", "the name in the spec")
        if there[item.name] != item.version:
            yield item, there[item.name]


class Updater:
    """Brings one BMC's firmware to what is wanted, one item after the other; `address` is where its record is kept."""

    def __init__(
        self, service: Service, address: str, timeout_s: float, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """Follow each update for `timeout_s` seconds at most."""
        self._service = service
        self._place = record_path("firmware", address)
        self._timeout_s = timeout_s
        self._sleep = sleep

    def update(self, item: Wanted) -> None:
        """
        Bring one item to its version, and see that it is there.

        An update that a run of before began, or somebody else, is followed and not begun a second time.

        Raises:
            BmcError: the update ended badly, did not end in time, or ended without the version.

        """
        deadline = time.monotonic() + self._timeout_s
        running = self._begun(item) or self._patient(lambda: next(self._running(), None), deadline)
        if running is not None:
            self._follow(running, deadline)
            seen = self._version(item, deadline)
        else:
            # The BMC may have been away until now because of the very update that is wanted.
            seen = self._patient(lambda: versions(self._service).get(item.name), deadline)
        if seen == item.version:
            self._forget()
            return
        begun, deadline = self._begin(item), time.monotonic() + self._timeout_s  # the wait before it was for another
        self._follow(begun, deadline)
        self._see(item, deadline)
        self._forget()

    def forget_done(self) -> None:
        """Forget an update of before that has ended while nobody looked: else the next one would look for its task."""
        if read_record(self._place).get("task"):
            self._forget()

    def different(self, wanted: Sequence[Wanted]) -> list[tuple[Wanted, str]]:
        """Return what differs, as the function does; a BMC that an update of ours may have sent away is waited for."""
        begun = read_record(self._place).get("task")
        return self._patient(
            lambda: list(different(self._service, wanted)), time.monotonic() + self._timeout_s * bool(begun)
        )

    def _patient(self, call: Callable[[], Answer], deadline: float) -> Answer:
        """Return what a call returns; while the BMC is away it is made again, until the deadline."""
        while True:
            try:
                return call()
            except BmcError as error:
                if not _is_away(error) or time.monotonic() > deadline:
                    raise
            self._sleep(POLL_S)

    def _begun(self, item: Wanted) -> str | None:
        """Return the task of this very update that a run of before wrote down."""
        record = read_record(self._place)
        same = (record.get("name"), record.get("image")) == (item.name, item.image)
        task: str | None = record.get("task") if same else None
        return task

    def _running(self) -> Iterator[str]:
        """Yield the tasks of the BMC that go on: most BMCs do one update at a time, and none says whose a task is."""
        tasks = link(self._service.find(link(self._service.get(ROOT), "Tasks")), "Tasks")
        for task in self._service.members(tasks):
            if task.get("TaskState") not in ENDED:
                yield task["@odata.id"]

    def _begin(self, item: Wanted) -> str | None:
        """Start the update and return its task, written down at once."""
        update_service = _update_service(self._service)
        action = (update_service.get("Actions") or {}).get(ACTION) or {}
        if "target" not in action:
            raise BmcError("no-update", "the BMC has no SimpleUpdate", "its firmware version, and the vendor's own way")
        target = item.target or inventory(self._service)[item.name]["@odata.id"]
        body = {"ImageURI": item.image, "Targets": [target], "TransferProtocol": item.image.partition(":")[0].upper()}
        answer = self._service.post(action["target"], body)
        task = _task_of(answer)
        change_record(self._place, name=item.name, image=item.image, task=task)
        return task

    def _follow(self, task: str | None, deadline: float) -> None:
        """Wait until a task has ended; a BMC that is away, or has forgotten the task, is no end of an update."""
        while task:
            state = self._asked(lambda: self._state(task))
            if state is None or state.get("TaskState") == DONE:
                return
            if state.get("TaskState") in ENDED:
                self._forget()
                raise BmcError(
                    "update-failed", f"task {task} ended as {_words(state)}", "the BMC's event log, the image"
                )
            if time.monotonic() > deadline:
                text = f"task {task} is {state.get('TaskState', 'away')} after {self._timeout_s:g} s"
                raise BmcError("update-not-ended", text, "the task on the BMC; the next run follows it")
            self._sleep(POLL_S)

    def _state(self, task: str) -> dict[str, Any] | None:
        """Return a task, empty where a monitor has no body yet, None where the BMC has forgotten it."""
        return self._service.find(task)

    def _see(self, item: Wanted, deadline: float) -> None:
        seen = self._version(item, deadline)
        if seen != item.version:
            text = f"the update of {item.name} ended, and the BMC shows {seen}, not {item.version}"
            raise BmcError("not-kept", text, "whether it takes a reset of machine or BMC, and the version in the image")

    def _version(self, item: Wanted, deadline: float) -> str | None:
        """Return the version of an item as soon as it is the wanted one, or the one that stays."""
        settle_by = min(deadline, time.monotonic() + max(4 * POLL_S, self._timeout_s / 10))
        while True:
            seen = self._asked(lambda: versions(self._service))
            if seen.get(item.name) == item.version or time.monotonic() > (settle_by if seen else deadline):
                version: str | None = seen.get(item.name)
                return version
            self._sleep(POLL_S)

    def _asked(self, call: Callable[[], Any]) -> Any:  # noqa: ANN401  # what the call returns
        """Return what a call returns, and an empty thing while the BMC is away."""
        try:
            return call()
        except BmcError as error:
            if _is_away(error):
                return {}
            raise

    def _forget(self) -> None:
        change_record(self._place, name=None, image=None, task=None)


def _is_away(error: BmcError) -> bool:
    return error.kind in AWAY or (status_of(error) or 0) >= HTTPStatus.INTERNAL_SERVER_ERROR


def _update_service(service: Service) -> dict[str, Any]:
    found = service.find(link(service.get(ROOT), "UpdateService"))
    if found is None:
        raise BmcError(
            "no-update", "the BMC has no UpdateService", "its firmware version, and that its facts are wanted"
        )
    return found


def _task_of(answer: Any) -> str | None:  # noqa: ANN401  # of the requests library
    """Return the path of the task that an answer names: in its body, else the monitor in its Location."""
    try:
        body = answer.json()
    except ValueError:
        body = {}
    where = body.get("@odata.id") if isinstance(body, dict) else None
    found = where or answer.headers.get("Location")
    return str(found) if found else None


def _words(task: dict[str, Any]) -> str:
    said = "; ".join(str(message.get("Message")) for message in task.get("Messages") or [] if message.get("Message"))
    return f"{task.get('TaskState')}: {said}" if said else str(task.get("TaskState"))
