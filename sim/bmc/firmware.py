"""
Firmware of a simulated BMC: versions that are kept, and updates as tasks that take their time.

A task's state follows from the time since it began, so that it goes on while nobody asks, and over a restart of the
BMC's process. The BMC's own firmware makes the BMC start again in the middle, and it answers nobody meanwhile. The BMC
looks idle all the while, as some real ones do.
"""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.state import read_json, write_json

FIRST = {"BMC": "1.10.0", "BIOS": "2.4.1"}
MAGIC = "coldaisle-firmware"
"""First word of a simulated image: `coldaisle-firmware ITEM VERSION`."""

FETCH_S = 30

LOST = "Cancelled"
"""State of an update that ended with the power; the BMC itself has forgotten it."""

ENDED = frozenset({"Completed", "Exception", LOST})


@dataclass(frozen=True, slots=True)
class Course:
    """How long an update takes, and when in it the BMC starts again, in seconds from its begin."""

    whole_s: float = 6.0
    away_from_s: float = 3.0
    away_until_s: float = 5.0


class Firmware:
    """The items of one BMC."""

    def __init__(self, path: Path, course: Course = Course(), clock: Callable[[], float] = time.time) -> None:
        """Keep versions and tasks at `path`."""
        self._path = path
        self._clock = clock
        self.course = course
        self.forgets_tasks = False

    def versions(self) -> dict[str, str]:
        """Return the version of each item."""
        done = [task for task in self.tasks().values() if self.state(task) == "Completed"]
        return {**FIRST, **read_json(self._path).get("versions", {}), **{it["item"]: it["version"] for it in done}}

    def tasks(self) -> dict[str, dict[str, Any]]:
        """Return every task by its number."""
        found: dict[str, dict[str, Any]] = read_json(self._path).get("tasks", {})
        return found

    def begin(self, item: str, image: str) -> str:
        """Begin an update, and return the number of its task; an image that is none makes a task that ends badly."""
        version, problem = _look_into(item, image)
        tasks = self.tasks()
        number = str(len(tasks) + 1)
        task = {"item": item, "image": image, "version": version, "problem": problem, "at": self._clock()}
        write_json(self._path, {"versions": self.versions(), "tasks": {**tasks, number: task}})
        return number

    def lose_power(self) -> None:
        """End an update that is going on: the item keeps its version, and the BMC knows nothing of the task."""
        versions, tasks = self.versions(), self.tasks()
        lost = {number: {**task, "lost": True} for number, task in tasks.items() if self.state(task) not in ENDED}
        if lost:
            write_json(self._path, {"versions": versions, "tasks": {**tasks, **lost}})

    def busy(self) -> bool:
        """Tell whether an update is going on."""
        return any(self.state(task) not in ENDED for task in self.tasks().values())

    def state(self, task: Mapping[str, Any]) -> str:
        """Return the TaskState of a task, as time has it."""
        if task.get("lost"):
            return LOST
        part = (self._clock() - task["at"]) / self.course.whole_s
        if task["problem"] and part >= 1 / 4:
            return "Exception"
        if part >= 1:
            return "Completed"
        return ("New", "Starting", "Running", "Running")[int(max(part, 0) * 4)]

    def away(self) -> bool:
        """Tell whether the BMC is starting again now, because its own firmware is being updated."""
        own = [task for task in self._not_lost().values() if task["item"] == "BMC" and not task["problem"]]
        since = [self._clock() - task["at"] for task in own]
        return any(self.course.away_from_s <= passed < self.course.away_until_s for passed in since)

    def shown_tasks(self) -> dict[str, dict[str, Any]]:
        """Return the tasks that the BMC still knows: some forget all when they start again."""
        late = self._clock() - self.course.away_from_s
        return {
            number: task
            for number, task in self._not_lost().items()
            if not (self.forgets_tasks and task["item"] == "BMC" and task["at"] < late)
        }

    def _not_lost(self) -> dict[str, dict[str, Any]]:
        return {number: task for number, task in self.tasks().items() if not task.get("lost")}


def _look_into(item: str, image: str) -> tuple[str, str | None]:
    """Fetch an image and return the version in it, or what is wrong with it."""
    try:
        with urllib.request.urlopen(image, timeout=FETCH_S) as answer:  # noqa: S310 - what a BMC is told to fetch
            words = answer.read(4096).decode(errors="replace").split()
    except (OSError, ValueError) as error:
        return "", f"the image cannot be fetched: {error}"
    if len(words) < 3 or words[0] != MAGIC or words[1] != item:  # noqa: PLR2004 - magic, item, version
        return "", f"the image is none of {item}"
    return words[2], None
