"""
The work of `coldaisle node retire`: drained, wiped, off, kept off, out of its cluster, and written down, in this order.

Each part is written down when it is done, so that a command that was stopped goes on where it was: what is wiped once
needs no machine that still boots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coldaisle.cli.bmc import refuse
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.node_bmc import BmcRefusedError, turn_off_for_good
from coldaisle.cli.node_evidence import signed_wipe
from coldaisle.cli.node_plays import run_playbook
from coldaisle.cli.node_steps import Opened, Person, replace_last, step
from coldaisle.cli.node_workload import DRAIN, drained, removed
from coldaisle.evidence import EvidenceError
from coldaisle.life.hardware import labels_of
from coldaisle.life.journal import LifeError
from coldaisle.life.states import refusal
from coldaisle.life.wipe import certificate
from coldaisle.spec.hardware import NodeHardware
from coldaisle.spec.journal import GONE, HELD

if TYPE_CHECKING:
    from coldaisle.spec.journal import Step

WIPE = "wipe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """
    What becomes of the machine.

    `wipe` are the serials of disks that somebody agrees to lose; `keep_disks` says why none is. `absent` says why
    nobody asks the machine or its BMC: it has left the hall already.
    """

    wipe: tuple[str, ...]
    keep_disks: str | None
    absent: str | None


def retire_node(known: Opened, person: Person, leaving: Leaving) -> Step:
    """
    Retire a node, and return its last step.

    Raises:
        typer.Exit: it stays where it is, and the message says at what it stopped.

    """
    last = _claimed(known, person)
    here = replace_last(known, last)
    found: dict[str, Any] = {GONE: _labels(known)}
    try:
        if leaving.absent:
            found["absent"] = leaving.absent
        else:
            found |= {DRAIN: drained(known, person.why)} if known.plan.cluster else {}
            last, wiped = _wiped(here, person, last, leaving)
            found |= wiped
            found["read_back"] = turn_off_for_good(known.node, f"retire: {person.why}")
        found |= removed(known)
    except (LifeError, BmcRefusedError, EvidenceError) as error:
        state = last.state if last else "in service"
        refuse(
            f"{error}\n  {known.node.name} is not retired, and stays {state}; run this again", ExitCode.COULD_NOT_TELL
        )
    return step(known, "retired", person, last, found)


def _claimed(known: Opened, person: Person) -> Step | None:
    """Take the node out of service, or out of nobody's hands: from here on nobody else moves it."""
    if known.state is None or known.state == "in-service":
        return step(known, "maintenance", person, known.last)
    if known.state in HELD:
        return step(known, known.state, person, known.last)
    refused = refusal(known.state, "retired")
    if refused:
        refuse(f"{known.node.name}: {refused.why}\n  fix:  {refused.fix}", ExitCode.INVALID)
    return known.last


def _labels(known: Opened) -> dict[str, str]:
    hardware = known.spec.hardware.get(known.node.name, NodeHardware())
    return {".".join(filter(None, (kind, place))): label for kind, place, label in labels_of(hardware)}


def _wiped(known: Opened, person: Person, last: Step | None, leaving: Leaving) -> tuple[Step | None, dict[str, Any]]:
    """Wipe the disks that consent names; what an earlier try has wiped is not asked for again."""
    if leaving.keep_disks is not None:
        return last, {"disks_kept": leaving.keep_disks}
    before = _before(known, leaving.wipe)
    if before is not None:
        return last, {WIPE: before}
    node = known.node.name
    variables = {"wipe_consent": {node: list(leaving.wipe)}, "wipe_method": "erase"}
    lines = [line for result in run_playbook(known, WIPE, variables) for line in result.get("disks", [])]
    chassis = known.spec.hardware.get(node, NodeHardware()).serial
    body = certificate(node, chassis, lines, leaving.wipe).body()
    body |= signed_wipe(known, person, body)
    if last is not None and last.state in HELD:
        last = step(known, last.state, person, last, {WIPE: body})
    return last, {WIPE: body}


def _before(known: Opened, serials: Sequence[str]) -> Any:  # noqa: ANN401 - a certificate's body
    """Return the certificate of an earlier try that covers all of these disks, since the node was last in service."""
    for earlier in reversed(known.spec.journal.of(known.node.name)):
        if earlier.state not in HELD:
            return None
        body = earlier.details.get(WIPE)
        if body and set(serials) <= {disk["serial"] for disk in body["disks"]}:
            return body
    return None
