"""The files of `coldaisle adopt --from`: which source each is of, and their texts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import typer

from coldaisle.adopt.facts import SOURCES, Collector, PortRef, Reading, Source
from coldaisle.adopt.identify import Sighting
from coldaisle.adopt.readers import READERS
from coldaisle.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from coldaisle.verify import Answer

STDIN = "-"
SUFFIXES = frozenset({".json", ".yml", ".yaml", ".txt", ".ini", ""})
"""Endings of files that hold text which a reader knows."""
SECRETS = frozenset({"passwords.yml", "secrets.yml", "vault.yml", "auth.yml"})
"""Files of inventories that hold secrets, which are never opened."""


def read_all(given: Sequence[str]) -> tuple[list[Source], list[Reading], list[Sighting]]:
    """
    Read every source; files that cannot be used are told with the problems of the sources.

    Raises:
        typer.Exit: an option names no known source, or a path that is not there.
    """
    parts = _parts(given)
    readings = [READERS[source](_texts(path)) for source, path in parts if source in READERS]
    sightings: list[Sighting] = []
    for source, path in parts:
        if source == "lldp":
            seen, reading = _seen(path)
            sightings += seen
            readings.append(reading)
    return sorted({source for source, _ in parts}), readings, sightings


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


def _texts(path: str) -> Mapping[str, str]:
    if path == STDIN:
        return {"stdin.json": sys.stdin.read()}
    return {name: file.read_text(encoding="utf-8", errors="replace") for name, file in _files(path)}


# -- LLDP ---------------------------------------------------------------------------------------------------------
def _seen(path: str) -> tuple[list[Sighting], Reading]:
    """Return what devices see; a file is named for its device, and one that ends early is a problem."""
    from coldaisle.verify import UnknownFormatError, read  # noqa: PLC0415

    into = Collector("lldp")
    found: list[Sighting] = []
    for name, file in _files(path):
        device = PurePath(name).name.partition(".")[0].lower()
        try:
            answer = read(file.read_bytes(), name, device)
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
