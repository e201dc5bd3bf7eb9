"""What the commands of `coldaisle node` share: a site that is open, a node of it, and a step that is written down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldaisle.check import open_site
from coldaisle.cli.bmc import refuse
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.life.journal import HeldError, LifeError, Wanted, next_step, record
from coldaisle.locks import FOLDER, InUseError, lock_all, of_pool
from coldaisle.paths import state_dir
from coldaisle.plan import plan_hash
from coldaisle.spec import site_folder
from coldaisle.spec.base import near_miss

if TYPE_CHECKING:
    from coldaisle.plan.model import NodePlan, SitePlan
    from coldaisle.spec import SiteSpec
    from coldaisle.spec.journal import State, Step


@dataclass(frozen=True, slots=True)
class Person:
    """Who takes a step and why; `take_over` takes a node out of the hands of somebody else."""

    who: str
    why: str
    take_over: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A site and one of its nodes, as they were when the command began."""

    folder: Path
    spec: SiteSpec
    plan: SitePlan
    node: NodePlan

    @property
    def last(self) -> Step | None:
        """Return the node's last step."""
        return self.spec.journal.last.get(self.node.name)

    @property
    def state(self) -> State | None:
        """Return the node's state, None where no journal knows it."""
        return self.last.state if self.last else None


def replace_last(known: Opened, last: Step | None) -> Opened:
    """Return a site as it is after a step of its node."""
    journal = known.spec.journal
    steps = journal.steps if last is None or last in journal.steps else (*journal.steps, last)
    return replace(known, spec=replace(known.spec, journal=replace(journal, steps=steps)))


def opened(site: str, node: str) -> Opened:
    """
    Open a site, and find a node of it, whatever its state.

    Raises:
        typer.Exit: there is no such node.
        SpecError: the spec or the journal cannot be used.

    """
    folder = site_folder(site)
    checked = open_site(folder)
    everyone = (*checked.plan.nodes, *checked.plan.retired)
    found = next((each for each in everyone if each.name == node), None)
    if found is None:
        advice = near_miss(node, [each.name for each in everyone])
        refuse(f"there is no node {node} in the plan of {checked.plan.name}: {advice}", ExitCode.INVALID)
    return Opened(folder, checked.spec, checked.plan, found)


@contextmanager
def in_hand(known: Opened, person: Person) -> Iterator[None]:
    """
    Keep runs that change the node off it, as long as this lasts: waves of its pool do not begin while it begins.

    Raises:
        typer.Exit: a run is at work on the node, or on its pool in waves (6).

    """
    folder, what = state_dir(known.plan.name) / FOLDER, f"{person.who} ({person.why})"
    try:
        (waves,) = lock_all(folder, [of_pool(known.node.pool)], what)
        with waves:
            (host,) = lock_all(folder, [known.node.name], what)
    except InUseError as error:
        refuse(f"{known.node.name} stays as it is: {error}", ExitCode.IN_USE)
    except OSError as error:
        refuse(f"{known.node.name} stays as it is: nobody can be kept off it: {error}", ExitCode.INVALID)
    with host:
        yield


def step(
    known: Opened, to: State, person: Person, after: Step | None, details: Mapping[str, Any] | None = None
) -> Step:
    """
    Write a step down behind the one that the command knows as the node's last.

    Raises:
        typer.Exit: somebody was quicker or holds the node (6), or there is no such step (2).

    """
    wanted = _wanted(known, to, person, after, details)
    with _refusals():
        return record(known.folder, wanted, datetime.now(UTC))


def require_step(known: Opened, to: State, person: Person) -> None:
    """
    See that a step could be taken, before something is done that goes with it; nothing is written down.

    Raises:
        typer.Exit: as `step` does.

    """
    with _refusals():
        next_step(known.spec.journal, _wanted(known, to, person, known.last, None), datetime.now(UTC))


def _wanted(known: Opened, to: State, person: Person, after: Step | None, details: Mapping[str, Any] | None) -> Wanted:
    return Wanted(
        node=known.node.name,
        to=to,
        after=after.step if after else 0,
        who=person.who,
        why=person.why,
        plan=plan_hash(known.plan),
        details=details or {},
        take_over=person.take_over,
    )


@contextmanager
def _refusals() -> Iterator[None]:
    """End the command where a step is refused."""
    try:
        yield
    except HeldError as error:
        refuse(str(error), ExitCode.IN_USE)
    except LifeError as error:
        refuse(str(error), ExitCode.INVALID)


def through(known: Opened, states: tuple[State, ...], person: Person, details: Mapping[str, Any] | None = None) -> Step:
    """Take a node through several states, one step each; `details` belong to the last."""
    last = known.last
    for state in states:
        last = step(known, state, person, last, details if state == states[-1] else None)
    if last is None:
        raise ValueError("no state to go to")
    return last
