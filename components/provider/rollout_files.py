"""What a rollout keeps beside the engine's state: where it stands, what happened, and how long its steps took."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldaisle.cli.collection import use_collection
from coldaisle.files import write_whole
from coldaisle.waves import State, from_json, moved, to_json
from coldaisle.waves.estimate import DURATIONS_FILE, WAVES_FOLDER, with_duration
from components.provider.clock import Clock
from components.provider.run import RunError

use_collection()
from ansible_collections.coldaisle.site.plugins.module_utils.steady import (  # noqa: E402 - needs that path
    Moment,
    moment,
    set_since_s,
    stamp,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from components.provider.inputs import Hosts, PlayInputs


def target_of(play: PlayInputs) -> str:
    """Return the digest of what a play is to bring about: a stopped rollout goes on towards the same only."""
    wanted = [play.site, play.playbook, play.code_digest, play.hosts, play.rollout]
    return hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()


def moments(clock: Callable[[], float]) -> Callable[[], Moment] | None:
    """Return what tells the moment by a run's clock; None where time is virtual: nobody sets that."""
    return (lambda: moment()._replace(wall=clock())) if isinstance(clock, Clock) else None


@dataclass(frozen=True, slots=True)
class Kept:
    """A rollout that has not ended: towards what, where it stands, and what its hosts were before."""

    target: str
    state: State
    before: Hosts


@dataclass(frozen=True, slots=True)
class RolloutFiles:
    """
    The files of one play's rollouts, in the site's folder for state.

    `moment` tells when something is kept and loaded, so that a clock that was set between does no harm; None where
    nobody can have set it, or where no time matters.
    """

    state_folder: Path
    name: str
    moment: Callable[[], Moment] | None = None

    @property
    def folder(self) -> Path:
        """Return the folder of all rollouts of the site."""
        return self.state_folder / WAVES_FOLDER

    def load(self) -> Kept | None:
        """Return the rollout that has not ended; None where there is none, or its file is broken."""
        try:
            kept = json.loads((self.folder / f"{self.name}.json").read_text(encoding="utf-8"))
            # A file of an earlier release does not say when it is of.
            set_s = set_since_s(kept.get("at"), self.moment()) if self.moment else 0.0
            state = moved(from_json(kept["state"]), set_s)
            return Kept(kept["target"], state, kept["before"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, kept: Kept) -> None:
        """
        Write where a rollout stands, whole or not at all; one that is done needs no file.

        Raises:
            RunError: it cannot be written, so that nothing new may start.

        """
        file = self.folder / f"{self.name}.json"
        state = kept.state
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if state.phase == "done" and not state.failed and not state.cordoned:
                file.unlink(missing_ok=True)
                return
            at = {"at": stamp(self.moment())} if self.moment else {}
            _write(file, {"target": kept.target, "state": to_json(state), "before": kept.before, **at})
        except OSError as error:
            raise RunError(f"cannot keep where the rollout of {self.name} stands, so nothing starts: {error}") from None

    def record(self, at: float, what: str, **more: Any) -> None:  # noqa: ANN401 - JSON
        """Add a line to the record of what happened; at is in seconds since the epoch."""
        line = json.dumps({"at": round(at, 3), "what": what, **more}, sort_keys=True)
        with (self.folder / f"{self.name}.events.jsonl").open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def took(self, what: str, seconds: float) -> None:
        """Remember how long a step of a wave took, for estimates."""
        file = self.folder / DURATIONS_FILE
        try:
            known = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            known = {}
        _write(file, with_duration(known, what, seconds))


def _write(file: Path, data: Any) -> None:  # noqa: ANN401 - JSON
    write_whole(file, json.dumps(data, indent=1, sort_keys=True), sync=True)
