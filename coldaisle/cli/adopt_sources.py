"""The files of `coldaisle adopt --from`: which source each is of, and their texts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import typer

from coldaisle.adopt.facts import SOURCES, Collector, PortRef, Reading, Source, Untold
from coldaisle.adopt.identify import Sighting
from coldaisle.adopt.readers import READERS
from coldaisle.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from coldaisle.verify import Answer

STDIN = "-"
UNTOLD_FILE = "untold.json"
"""What those did not tell who were asked live, beside the files of the others (`--keep`)."""
SUFFIXES = frozenset({".json", ".yml", ".yaml", ".txt", ".ini", ""})
"""Endings of files that hold text which a reader knows."""
SECRETS = frozenset({"passwords.yml", "secrets.yml", "vault.yml", "auth.yml"})
"""Files of inventories that hold secrets, which are never opened."""


@dataclass
class Told:
    """What all sources told: their names, readings, and what devices see of their neighbours."""

    sources: set[Source] = field(default_factory=set)
    readings: list[Reading] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)

    def add(self, source: Source, files: Mapping[str, bytes]) -> None:
        """Read the files of one source; what cannot be used of them is told with the problems of the sources."""
        self.sources.add(source)
        given = {name: data for name, data in files.items() if PurePath(name).name != UNTOLD_FILE}
        notes = [data for name, data in files.items() if name not in given]
        self.readings += [Reading(untold=tuple(_untold(data))) for data in notes]
        if source == "lldp":
            seen, reading = _seen(given)
            self.sightings += seen
        elif given or not notes:
            reading = READERS[source]({name: data.decode(errors="replace") for name, data in given.items()})
        else:
            return
        self.readings.append(reading)

    @property
    def untold(self) -> list[Untold]:
        """Return what those did not tell who were asked."""
        return [each for reading in self.readings for each in reading.untold]


def read_all(given: Sequence[str]) -> Told:
    """
    Read every source that is given as files.

    Raises:
        typer.Exit: an option names no known source, or a path that is not there.
    """
    told = Told()
    for source, path in _parts(given):
        told.add(source, dict(_contents(path)))
    return told


def untold_text(untold: Iterable[Untold]) -> str:
    """Return what was not told as a file beside a source's own, which `read_all` takes back."""
    return json.dumps({"untold": [asdict(each) for each in untold]}, indent=1)


def _untold(data: bytes) -> Iterator[Untold]:
    yield from (Untold(**each) for each in json.loads(data)["untold"])


def _parts(given: Sequence[str]) -> list[tuple[Source, str]]:
    """Return source and path of each option; all that is wrong with them is told at once."""
    found: list[tuple[Source, str]] = []
    problems = []
    for each in given:
        name, mark, path = each.partition("=")
        source = next((known for known in SOURCES if known == name), None)
        if source is None or not mark:
            problems.append(f"--from {each}: write SOURCE=PATH with one of {', '.join(sorted(SOURCES))}")
        elif path != STDIN and not Path(path).expanduser().exists():
            problems.append(f"--from {each}: there is no {path}")
        else:
            found.append((source, path))
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(ExitCode.INVALID)
    return found


def _files(path: str) -> Iterator[tuple[str, Path]]:
    """Yield the files of a source with their paths in it, but for those that hold secrets."""
    root = Path(path).expanduser()
    if root.is_file():
        yield root.name, root
        return
    for file in sorted(root.rglob("*")):
        inside = file.relative_to(root)
        hidden = any(part.startswith(".") for part in inside.parts)
        if file.is_file() and not hidden and file.suffix in SUFFIXES and file.name not in SECRETS:
            yield f"{root.name}/{inside}", file


def _contents(path: str) -> Iterator[tuple[str, bytes]]:
    if path == STDIN:
        yield "stdin.json", sys.stdin.read().encode()
        return
    yield from ((name, file.read_bytes()) for name, file in _files(path))


# -- LLDP ---------------------------------------------------------------------------------------------------------
def _seen(files: Mapping[str, bytes]) -> tuple[list[Sighting], Reading]:
    """Return what devices see; a file is named for its device, and one that ends early is a problem."""
    from coldaisle.verify import UnknownFormatError, read  # noqa: PLC0415

    into = Collector("lldp")
    found: list[Sighting] = []
    for name, data in files.items():
        device = PurePath(name).name.partition(".")[0].lower()
        try:
            answer = read(data, name, device)
        except UnknownFormatError as error:
            into.unreadable(name, str(error), "give a file a device in one of these forms, named for the device")
            continue
        if answer.protocol == "ib" or not answer.whole:
            what = "ibnetdiscover names no ports as a spec does" if answer.protocol == "ib" else "; ".join(answer.notes)
            into.unreadable(name, what, "ask the device again; cables of InfiniBand come from NetBox")
            continue
        into.notes += answer.notes
        found += _sightings(answer, name)
    return found, into.reading()


def _sightings(answer: Answer, where: str) -> Iterator[Sighting]:
    for neighbour in answer.neighbours:
        near = PortRef((neighbour.local.name or "").lower().partition(".")[0], neighbour.local.port_label)
        yield Sighting(near, neighbour.remote.name, neighbour.remote.ports, neighbour.remote.macs, where)
