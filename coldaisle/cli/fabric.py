"""`coldaisle fabric`: what follows from a site's fabrics, from configurations and tables to what they survive."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coldaisle.cli import fabric_tables, fabric_topology, fabric_ztp
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import Site, print_problems, write_output
from coldaisle.cli.survive import survive

if TYPE_CHECKING:
    from coldaisle.check import CheckedSite
    from coldaisle.spec.catalog import NetworkOs
    from coldaisle.spec.sections import SiteSpec

app = typer.Typer(
    help="What follows from a site's fabrics: switches' configurations and first boot, tables, topologies for others.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class System(StrEnum):
    """Operating systems by the names of their languages."""

    EOS = "eos"
    SONIC = "sonic"
    NVUE = "nvue"
    FRR = "frr"

    @property
    def network_os(self) -> NetworkOs:
        """Return the operating system as catalog and plan name it."""
        names: dict[System, NetworkOs] = {System.EOS: "eos", System.SONIC: "sonic", System.FRR: "frr"}
        return names.get(self, "cumulus")


Folder = Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go; it is made.")]
OneFabric = Annotated[str | None, typer.Option("--fabric", metavar="NAME", help="Only this fabric.")]
AsSystem = Annotated[
    System | None,
    typer.Option("--system", help="As if the site had chosen this system, for the fabrics whose switches all run it."),
]


app.command()(survive)


@app.command()
def configs(site: Site, *, output: Folder, fabric: OneFabric = None, system: AsSystem = None) -> None:
    """
    Write the configuration of each Ethernet switch, a file each in a folder for its fabric.

    A site's fabric chooses the operating system with network_os; else it is the first that the catalog names for the
    model. A switch without a configuration is told of on standard error, with the reason. Nothing is written for a site
    on which the checks find an error.

    Exit status: 0 clean, 1 a file cannot be written, 2 the spec or an option cannot be used, 3 not one switch has a
    configuration, 4 a check found an error.

    Example: coldaisle fabric configs b200-roce --output build/switches
    """
    from coldaisle.render.switches import switch_configs  # noqa: PLC0415 - keeps the start of other commands light

    checked, fabrics = _opened(site, fabric, system)
    if checked.errors:
        print_problems(checked.errors, err=True)
        raise typer.Exit(ExitCode.CHECK_FAILED)
    written = 0
    for config in switch_configs(checked.plan, fabrics):
        if config.text is None:
            typer.echo(f"{config.fabric}/{config.switch}: no configuration: {config.why}", err=True)
            continue
        path = output / config.fabric / config.file_name
        write_output(path, config.text)
        typer.echo(str(path))
        written += 1
    raise typer.Exit(ExitCode.CLEAN if written else ExitCode.COULD_NOT_TELL)


def _opened(site: str, fabric: str | None, system: System | None) -> tuple[CheckedSite, tuple[str, ...]]:
    """Return the site as the options want it, and the fabrics that they leave."""
    from coldaisle.check import open_site  # noqa: PLC0415
    from coldaisle.spec import site_folder  # noqa: PLC0415

    checked = open_site(site_folder(site))
    known = tuple(name for name, plan in checked.plan.fabrics.items() if plan.kind != "infiniband")
    if fabric is not None and fabric not in known:
        typer.echo(f"there is no Ethernet fabric {fabric}; there are: {', '.join(known) or 'none'}", err=True)
        raise typer.Exit(ExitCode.INVALID)
    wanted = known if fabric is None else (fabric,)
    return (checked, wanted) if system is None else _chosen(checked, wanted, system)


def _chosen(checked: CheckedSite, wanted: tuple[str, ...], system: System) -> tuple[CheckedSite, tuple[str, ...]]:
    """Return the site with another system chosen, and the fabrics whose switches all run it."""
    from coldaisle.check import CheckedSite, check_site  # noqa: PLC0415
    from coldaisle.plan import plan_site  # noqa: PLC0415

    runs = tuple(name for name in wanted if _runs(checked, name, system))
    for name in wanted:
        if name not in runs:
            typer.echo(f"{name}: left out: not all of its switches run {system}, by the catalog", err=True)
    spec = _with_system(checked.spec, runs, system.network_os)
    plan = plan_site(spec)
    return CheckedSite(spec, plan, check_site(spec, plan)), runs


def _runs(checked: CheckedSite, fabric: str, system: System) -> bool:
    models = {switch.model for switch in checked.plan.fabrics[fabric].switches}
    return all(system.network_os in checked.spec.catalog.switches[model].network_os for model in models)


def _with_system(spec: SiteSpec, names: tuple[str, ...], system: NetworkOs) -> SiteSpec:
    chosen = {name: spec.fabrics[name].model_copy(update={"network_os": system}) for name in names}
    sections = spec.sections.model_copy(update={"fabrics": {**spec.fabrics, **chosen}})
    return replace(spec, sections=sections)


for command in (
    fabric_tables.bom,
    fabric_tables.ports,
    fabric_tables.addresses,
    fabric_topology.topology,
    fabric_ztp.ztp,
):
    app.command()(command)
