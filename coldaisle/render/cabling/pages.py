"""Pages to print: one a rack, one a device, and an index. Each stands alone and fetches nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import jinja2
from markupsafe import Markup

from coldaisle.paths import packaged
from coldaisle.render.cabling.rows import Pack, Plug, Row


@dataclass(frozen=True, slots=True)
class Line:
    """A cable seen from one end. `inside` tells that its other end is in the same rack, so that it is listed twice."""

    near: Plug
    far: Plug
    row: Row

    @property
    def inside(self) -> bool:
        """Tell whether the cable stays within a rack."""
        return bool(self.near.rack) and self.near.rack == self.far.rack


@dataclass(frozen=True, slots=True)
class Block:
    """A device with its cables."""

    device: str
    unit: int | None
    lines: tuple[Line, ...]


def rack_pages(pack: Pack) -> dict[str, str]:
    """Return the page of each rack that has cables, by the rack's name."""
    found: defaultdict[str, list[Line]] = defaultdict(list)
    for line in _lines(pack):
        found[line.near.rack].append(line)
    found.pop("", None)
    return {name: _page(pack, f"Rack {name}", _blocks(found[name])) for name in sorted(found)}


def device_pages(pack: Pack) -> dict[str, str]:
    """Return the page of each device that has cables, by the device's name."""
    found: defaultdict[str, list[Line]] = defaultdict(list)
    for line in _lines(pack):
        found[line.near.device].append(line)
    return {name: _page(pack, f"Device {name}", _blocks(found[name])) for name in sorted(found)}


def index_page(pack: Pack, racks: Mapping[str, str], devices: Mapping[str, str]) -> str:
    """Return the page that names all others."""
    return _template("index.html.j2").render(pack=pack, style=_style(), racks=_files(racks), devices=_files(devices))


def file_name(name: str) -> str:
    """Return a name as a file's: names of the spec are safe already, and whatever is not is replaced."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)


def _files(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, file_name(name)) for name in names]


def _lines(pack: Pack) -> Iterable[Line]:
    for row in pack.rows:
        yield Line(row.a, row.b, row)
        yield Line(row.b, row.a, row)


def _blocks(lines: list[Line]) -> list[Block]:
    """Return devices from the top of the rack down, each with its cables by port."""
    found: dict[str, list[Line]] = {}
    for line in sorted(lines, key=lambda line: line.near.sorting):
        found.setdefault(line.near.device, []).append(line)
    return [Block(name, own[0].near.unit, tuple(own)) for name, own in found.items()]


def _page(pack: Pack, title: str, blocks: list[Block]) -> str:
    place = next((line.near for block in blocks for line in block.lines), None)
    cables = {id(line.row) for block in blocks for line in block.lines}
    return _template("page.html.j2").render(
        pack=pack, title=title, place=place, blocks=blocks, cables=len(cables), style=_style()
    )


def _style() -> Markup:
    return Markup((packaged("templates") / "cabling" / "style.css").read_text(encoding="utf-8"))  # noqa: S704 - our own file


@cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(packaged("templates") / "cabling"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
    )
    return environment.get_template(name)
