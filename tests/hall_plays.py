"""
The plays of a hall by the provider's own path: `python -m tests.hall_plays FOLDER VERB [PLAYBOOK... | NUMBER]`.

It stands where the engine does: `prepare` makes the inputs that the program would, `apply` creates or updates each play
in order and keeps the outputs, `read` refreshes all of them side by side, as the engine does, and compares; with a
number it reads that many hosts. A number after `prepare` is how many hosts a play works on at once.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.provider.inputs import PlayInputs
from components.provider.plays import InitFailedError, PlayError, Plays
from components.provider.run import RunError

if TYPE_CHECKING:
    from coldaisle.plan.model import SitePlan

Properties = dict[str, Any]
FORKS = 32
"""As many as ansible.cfg gives to a plain ansible-playbook."""


def hall_of(folder: Path) -> tuple[SitePlan, Path]:
    """Return the plan of the hall that is up for a site's folder, and that folder by the name of the hall."""
    from coldaisle.check import open_site  # noqa: PLC0415 - the other verbs do without, as the provider does
    from sim.hall.plan import Wanted, hall_plan  # noqa: PLC0415
    from sim.hall.site import state_of  # noqa: PLC0415

    site = open_site(folder).plan
    plan = hall_plan(site, state_of(site.name), Wanted())
    if not (link := folder.with_name(plan.name)).exists():  # what accepts reads the spec there
        link.symlink_to(folder)
    return plan, link


def prepare(folder: Path, forks: int = FORKS) -> Properties:
    """Write the inputs of every play of the hall that is up for a site's folder."""
    from components.planned import play_inputs  # noqa: PLC0415 - it plans

    plan, site = hall_of(folder)
    plays = {name: PlayInputs(**given, forks=forks) for name, given in play_inputs(plan, str(site)).items()}
    inputs = {name: play.outputs(play.hosts) for name, play in plays.items()}
    (folder / "inputs.json").write_text(json.dumps(inputs))
    return {"plays": list(inputs)}


async def apply(folder: Path, playbooks: list[str]) -> Properties:
    """Create or update the plays one after the other; what failed is told by play, and the others go on."""
    inputs, file = json.loads((folder / "inputs.json").read_text()), folder / "outputs.json"
    outputs = json.loads(file.read_text()) if file.exists() else {}
    plays, reasons = Plays(lambda _urn, _line: None), {}
    for name, wanted in inputs.items():
        if playbooks and wanted["playbook"] not in playbooks:
            continue
        try:
            outputs[name] = await _one(plays, name, outputs.get(name), wanted)
        except InitFailedError as error:
            outputs[name], reasons[name] = error.outputs, error.reasons
        except (PlayError, RunError) as error:
            reasons[name] = [str(error)]
    file.write_text(json.dumps(outputs))
    return {"reasons": reasons, "hosts": {name: sorted(found["hosts"]) for name, found in outputs.items()}}


async def _one(plays: Plays, name: str, outputs: Properties | None, wanted: Properties) -> Properties:
    urn = f"urn:pulumi:dev::hall::coldaisle:ansible:Play::{name}"
    if outputs is None:
        return (await plays.create(urn, wanted, 0))[1]
    if not plays.diff(outputs, wanted):
        return outputs
    return await plays.update(urn, name, outputs, wanted, 0)


def _first(properties: Properties, count: int | None) -> Properties:
    """Return the properties of each play with its first hosts only."""
    return {name: it | {"hosts": dict(list(it["hosts"].items())[:count])} for name, it in properties.items()}


async def read(folder: Path, count: int | None = None) -> Properties:
    """Read every play at once, and return what differs from the plan, and what could not be told."""
    kept = [json.loads((folder / f"{name}.json").read_text()) for name in ("inputs", "outputs")]
    inputs, outputs = (_first(each, count) for each in kept)
    plays, reasons = Plays(lambda _urn, _line: None), {}

    async def one(name: str) -> None:
        try:
            outputs[name] = await plays.read(name, name, outputs[name], inputs[name])
        except InitFailedError as error:
            outputs[name], reasons[name] = error.outputs, error.reasons

    await asyncio.gather(*(one(name) for name in inputs if name in outputs))
    if count is None:
        (folder / "outputs.json").write_text(json.dumps(outputs))
    changes = {name: plays.diff(outputs[name], wanted) for name, wanted in inputs.items() if name in outputs}
    return {"changes": {name: found for name, found in changes.items() if found}, "reasons": reasons}


def main(folder: Path, verb: str, *rest: str) -> Properties:
    """Do what the command line says."""
    if verb == "prepare":
        return prepare(folder, *map(int, rest))
    return asyncio.run(apply(folder, list(rest)) if verb == "apply" else read(folder, *map(int, rest)))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job is started with ^C ignored
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]), *sys.argv[2:])) + "\n")
