"""`coldaisle catalog`: hardware facts with their sources: list, explain, compare, and import from NetBox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, complete_site, print_json

if TYPE_CHECKING:
    from coldaisle.render.catalog import Entry, Where
    from coldaisle.spec.catalog import Catalog
    from coldaisle.spec.netbox import Imported
    from coldaisle.spec.netbox import Kind as DeviceKind

app = typer.Typer(
    help="Hardware facts with their sources: list, explain, compare, and import from NetBox.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Kind(StrEnum):
    """Kinds of entries."""

    SYSTEMS = "systems"
    SWITCHES = "switches"
    GPUS = "gpus"
    NICS = "nics"
    OPTICS = "optics"
    CABLES = "cables"
    PDUS = "pdus"
    POWER_SHELVES = "power_shelves"
    UPS = "ups"
    CDUS = "cdus"
    REAR_DOORS = "rear_doors"
    ACCEPTANCE = "acceptance"


class Device(StrEnum):
    """What a device type of NetBox can become."""

    SYSTEM = "system"
    SWITCH = "switch"
    PDU = "pdu"


_COLUMNS: Mapping[str, tuple[str, ...]] = {
    Kind.SYSTEMS: ("height_u", "max_power_w", "weight_kg", "air_share"),
    Kind.SWITCHES: ("kind", "height_u", "max_power_w", "typical_power_w", "weight_kg"),
    Kind.GPUS: ("module_power_w", "memory_bytes", "memory_bytes_per_s", "link", "link_bytes_per_s"),
    Kind.NICS: ("rate_gbps", "ports", "kinds", "max_power_w"),
    Kind.OPTICS: ("rate_gbps", "form_factor", "fibre", "connector", "reach_m", "power_w"),
    Kind.CABLES: ("rate_gbps", "form_factor", "medium", "reach_m", "power_w"),
    Kind.PDUS: ("phases", "voltage_v", "inlet_a", "capacity_w", "banks", "height_u"),
    Kind.POWER_SHELVES: ("height_u", "psus", "psu_w", "capacity_w", "efficiency"),
    Kind.UPS: ("capacity_w", "module_w", "voltage_v", "efficiency"),
    Kind.CDUS: ("capacity_w", "approach_k", "flow_l_per_min", "max_power_w", "height_u", "weight_kg"),
    Kind.REAR_DOORS: ("active", "capacity_w", "max_power_w"),
    Kind.ACCEPTANCE: ("systems", "all_reduce_node_gb_s", "host_to_device_gb_s", "rdma_write_gbps"),
}
"""What a list shows of each kind, besides name and vendor."""

_BECOMES: Mapping[Device, DeviceKind] = {Device.SYSTEM: "systems", Device.SWITCH: "switches", Device.PDU: "pdus"}

OfSite = Annotated[
    str | None,
    typer.Option("--site", metavar="SITE", help="With this site's own entries.", autocompletion=complete_site),
]
OfKind = Annotated[Kind | None, typer.Option("--kind", help="Only entries of this kind.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="An entry, such as dgx-h100.")]
Names = Annotated[list[str], typer.Argument(metavar="NAME NAME ...", help="Two entries or more.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A device type of NetBox, as YAML.")]
As = Annotated[Device, typer.Option("--as", help="What the device is.")]


@app.command("list")
def list_entries(*, kind: OfKind = None, site: OfSite = None, as_json: AsJson = False) -> None:
    """
    List every entry, with the figures that plans may need and no document gave.

    Example: coldaisle catalog list --kind systems
    """
    from coldaisle.render.catalog import entries  # noqa: PLC0415 - keeps the start of other commands light

    catalog, where = _opened(site)
    found = entries(catalog, where, kind.value if kind else None)
    if as_json:
        print_json({"schema_version": "1", "entries": [_json(entry) for entry in found]})
        return
    for of_kind, columns in _COLUMNS.items():
        lines = [_listed(entry, columns) for entry in found if entry.kind == of_kind]
        if lines:
            _print_table(("name", "vendor", *columns, "missing"), lines, title=of_kind.replace("_", " "))


@app.command("explain")
def explain_entry(name: Name, *, site: OfSite = None, as_json: AsJson = False) -> None:
    """
    Print every figure of an entry with the document that gives it, and what is missing.

    Example: coldaisle catalog explain dgx-b200
    """
    entry = _found([name], site)[0]
    if as_json:
        print_json({"schema_version": "1", **_json(entry)})
        return
    typer.echo(f"{entry.name} ({entry.kind}), {entry.where}")
    for fact in entry.facts:
        typer.echo(f"  {fact.figure}: {fact.value}\n      {fact.where}: {fact.source}")
    for figure in entry.missing:
        typer.echo(f"  {figure}: missing; no document of the catalog gives it")


@app.command("compare")
def compare_entries(names: Names, *, site: OfSite = None, as_json: AsJson = False) -> None:
    """
    Print entries side by side; a figure that differs has a star, and each value the number of its source.

    Example: coldaisle catalog compare dgx-h100 dgx-b200
    """
    from coldaisle.render.catalog import rows  # noqa: PLC0415 - keeps the start of other commands light

    found = _found(names, site)
    if as_json:
        print_json({"schema_version": "1", "entries": [_json(entry) for entry in found]})
        return
    sources: dict[str, int] = {}
    lines = []
    for figure, facts, differs in rows(found):
        cells = [
            "missing" if fact is None else f"{fact.value} [{sources.setdefault(fact.source, len(sources) + 1)}]"
            for fact in facts
        ]
        lines.append(("*" if differs else "", figure, *cells))
    _print_table(("", "figure", *(entry.name for entry in found)), lines)
    for source, number in sources.items():
        typer.echo(f"[{number}] {source}")


@app.command("import")
def import_entry(file: File, *, kind: As, as_json: AsJson = False) -> None:
    """
    Print a device type of NetBox as an entry of the catalog, with every figure that the file does not give.

    The entry goes to standard output, and what is missing stands in it as comments: a plan that needs such a figure
    says so, and counts nothing as zero. Where the catalog has an entry of that name, it says what differs. Write it to
    catalog.yaml of a site, below `catalog:`.

    Exit status: 0 clean, 2 the file is no device type.

    Example: coldaisle catalog import SN5610.yaml --as switch
    """
    import yaml  # noqa: PLC0415 - keeps the start of other commands light

    from coldaisle.spec.netbox import NotADeviceTypeError, against, imported  # noqa: PLC0415

    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
        source = f"NetBox device type {file.name}"
        found = imported(data, _BECOMES[kind], source)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, NotADeviceTypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error).partition("\n")[0]
        typer.echo(f"{file} is no device type of NetBox: {reason}", err=True)
        raise typer.Exit(ExitCode.INVALID) from None
    known = getattr(_opened(None)[0], found.kind).get(found.name)
    if known is not None:
        found = replace(found, notes=(*found.notes, *against(found, known)))
    if as_json:
        print_json({"schema_version": "1", **asdict(found)})
    else:
        typer.echo(import_text(found), nl=False)


def import_text(found: Imported) -> str:
    """Return an imported entry as YAML, with what is missing and what to note as comments."""
    import yaml  # noqa: PLC0415

    body: dict[str, Any] = {"catalog": {found.kind: {found.name: dict(found.entry)}}}
    lines = [f"# missing {figure}: {advice}" for figure, advice in found.missing.items()]
    lines += [f"# note: {note}" for note in found.notes]
    return "\n".join([*lines, yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=100)])


def _opened(site: str | None) -> tuple[Catalog, Where]:
    """Return the catalog, with a site's own entries over it, and what tells where its values stand."""
    from coldaisle.check.places import catalog_line, shortened  # noqa: PLC0415
    from coldaisle.spec import load_site, site_folder  # noqa: PLC0415
    from coldaisle.spec.load import load_catalog  # noqa: PLC0415

    if site is not None:
        spec = load_site(site_folder(site))
        return spec.catalog, lambda *loc: catalog_line(spec, *loc)
    catalog, (marks,) = load_catalog()
    return (
        catalog,
        lambda *loc: shortened(marks.where(loc, key=True)).rpartition(":")[0] if marks.existing(loc) == loc else "",
    )


def _found(names: list[str], site: str | None) -> list[Entry]:
    from coldaisle.render.catalog import find  # noqa: PLC0415

    catalog, where = _opened(site)
    try:
        return [find(catalog, where, name) for name in names]
    except LookupError as error:
        typer.echo(error.args[0], err=True)
        raise typer.Exit(ExitCode.INVALID) from None


def _json(entry: Entry) -> dict[str, Any]:
    facts = [asdict(fact) for fact in entry.facts]
    missing = list(entry.missing)
    return {"kind": entry.kind, "name": entry.name, "where": entry.where, "facts": facts, "missing": missing}


def _listed(entry: Entry, columns: tuple[str, ...]) -> tuple[str, ...]:
    facts = (entry.by_figure.get(figure) for figure in ("vendor", *columns))
    return (entry.name, *(fact.value if fact else "-" for fact in facts), ", ".join(entry.missing))


def _print_table(columns: tuple[str, ...], lines: list[tuple[str, ...]], title: str | None = None) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(header_style="bold", title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")  # a name that is cut off cannot be typed
    for line in lines:
        table.add_row(*line)
    Console(markup=False).print(table)
