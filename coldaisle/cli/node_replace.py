"""The work of `coldaisle node replace`: the delivery list changed in place, and what left remembered."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coldaisle.check import open_site
from coldaisle.cli.bmc import refuse
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.node_steps import Opened, Person, step
from coldaisle.cli.output import print_problems, write_output
from coldaisle.cli.playbook import forget_host_key
from coldaisle.life.journal import LifeError
from coldaisle.life.replace import ANEW, MACHINE, Place, Replacement, details, replacements
from coldaisle.life.states import refusal
from coldaisle.spec import SpecError
from coldaisle.spec.edit import EditError, with_values

if TYPE_CHECKING:
    from coldaisle.spec.journal import State

SECTION = "hardware"
REPLACED_IN: frozenset[State] = frozenset({"inspect", "maintenance", "repair"})
"""States in which a part is replaced: somebody has the machine in their hands."""


def wanted_of(single: Mapping[str, str | None], placed: Mapping[str, Sequence[str]]) -> dict[Place, str]:
    """
    Return the new label of each part that options name.

    Raises:
        typer.Exit: an option is no PLACE=LABEL, or there is none.

    """
    found: dict[Place, str] = {(kind, ""): label for kind, label in single.items() if label}
    for kind, options in placed.items():
        for option in options:
            place, mark, label = option.partition("=")
            if not (place and mark and label):
                refuse(
                    f"{option}: write the place, =, and the new label, such as GPU_SXM_4=1654923000123",
                    ExitCode.INVALID,
                )
            found[kind, place] = label.lower() if kind == "macs" else label
    if not found:
        refuse("what was replaced? --serial, --uuid, --bmc-mac, --gpu, --dimm, --mac or --disk", ExitCode.INVALID)
    return found


def replace_parts(
    known: Opened, person: Person, wanted: Mapping[Place, str], *, take_back: bool
) -> tuple[Replacement, ...]:
    """
    Replace parts of a node in the delivery list, and return what changed.

    Raises:
        typer.Exit: a part cannot be, the node is in nobody's hands, or the site would be invalid; nothing was changed.

    """
    state = known.state
    if state is None or state not in REPLACED_IN or refusal(state, state):
        here = f"it is in {state}" if state else "it is in service"
        fix = f"coldaisle node repair {known.spec.site.name} {known.node.name} --why …"
        refuse(
            f"{known.node.name}: {here}, and parts are replaced in repair or maintenance\n  fix:  {fix}",
            ExitCode.INVALID,
        )
    try:
        found = replacements(known.spec, known.node.name, wanted, take_back=take_back)
        path, text = _edited(known, found)
    except (LifeError, EditError) as error:
        refuse(f"{known.node.name}: nothing was changed\n{error}", ExitCode.INVALID)
    _still_valid(known, path, text, found)
    # The journal comes first: after a crash between the two, `check` names the old part as one that has left.
    to: State = "inspect" if any(one.kind in ANEW for one in found) else state
    step(known, to, person, known.last, details(found, take_back=take_back))
    write_output(path, text)
    if any(one.kind in MACHINE for one in found):
        forget_host_key(known.plan, known.node.name)
    return found


def _edited(known: Opened, found: Sequence[Replacement]) -> tuple[Path, str]:
    """Return the file of the delivery list, and its text with the new labels."""
    section = known.spec.marks.sections.get(SECTION)
    if section is None:
        raise EditError(f"the site has no delivery list; add a file {SECTION}.yaml with {SECTION}: first")
    path = known.folder / Path(section.file).name
    changes = {(SECTION, known.node.name, *one.path): one.new for one in found}
    return path, with_values(path.read_text(encoding="utf-8"), changes)


def _still_valid(known: Opened, path: Path, text: str, found: Sequence[Replacement]) -> None:
    """Open a copy of the site as it would be: what is wrong there is told before anything is changed here."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / known.folder.resolve().name
        shutil.copytree(known.folder, copy, ignore=shutil.ignore_patterns("drift"))
        (copy / path.name).write_text(text, encoding="utf-8")
        try:
            problems = open_site(copy).errors
        except SpecError as error:
            problems = error.problems
    before = {(each.check, each.path) for each in open_site(known.folder).errors}
    coming = {one.new.lower() for one in found}
    fresh = [
        each
        for each in problems
        if (each.check, each.path) not in before
        and not (each.check == "hardware-returned" and any(label in each.what.lower() for label in coming))
    ]
    if fresh:
        print_problems(fresh, err=True)
        refuse(f"{known.node.name}: nothing was changed", ExitCode.INVALID)
