"""`coldaisle sim hall`: hundreds of BMCs and hosts of a site, apart from this machine's networks."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json
from coldaisle.cli.sim_shared import pair, plan_of, progress, site_name, told

if TYPE_CHECKING:
    from sim.hall.site import HallStatus

app = typer.Typer(
    help="Hundreds of BMCs and hosts of a site, in namespaces that nothing else can reach. Needs root.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command()
def spec(
    folder: Annotated[Path, typer.Argument(help="Where the spec is written.")],
    *,
    nodes: Annotated[int, typer.Option("--nodes", min=1, max=5000, help="How many nodes.")] = 128,
    name: Annotated[str, typer.Option("--name", help="The site's name.")] = "hall",
) -> None:
    """
    Write the spec of a site of light hosts: racks of sixteen, one rail, BMCs of both protocols.

    Example: coldaisle sim hall spec /tmp/hall --nodes 256
    """
    from sim.hall.spec import write  # noqa: PLC0415 - the simulation is loaded when it is wanted

    typer.echo(write(folder, nodes, name))


@app.command()
def up(
    site: Site,
    *,
    hosts: Annotated[int | None, typer.Option("--hosts", min=1, help="Only so many nodes, the first ones.")] = None,
    kind: Annotated[
        str,
        typer.Option("--kind", help="What stands for a node: light, container (has systemd), board (a BMC alone)."),
    ] = "light",
    pool: Annotated[
        list[str] | None, typer.Option("--pool", metavar="POOL=KIND", help="Another kind for the nodes of a pool.")
    ] = None,
) -> None:
    """
    Start the BMCs of a hall and lay its cables; hosts are off until their BMC turns them on.

    Exit status: 0 the BMCs answer, 2 this machine cannot carry it.

    Example: coldaisle sim hall up h100-pod --hosts 64; coldaisle sim hall run h100-pod -- ping -c1 10.0.1.11
    """
    plan = plan_of(site)
    with told():
        from sim.hall.kinds import hall_kind  # noqa: PLC0415
        from sim.hall.plan import Wanted  # noqa: PLC0415
        from sim.hall.site import up as start  # noqa: PLC0415

        pools = {name: hall_kind(value) for name, value in map(pair, pool or ())}
        _print(start(plan, Wanted(hosts, hall_kind(kind), pools), progress()))


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def run(site: Site, command: Annotated[list[str], typer.Argument(help="The command, after --.")]) -> None:
    """
    Run a command on the deploy host of a hall: this machine, on the hall's network, with the hall's inventory.

    COLDAISLE_INVENTORY names the inventory; the provider uses it, and `ansible-playbook -i` takes it.

    Example: coldaisle sim hall run hall -- sh -c 'ansible -i $COLDAISLE_INVENTORY all -m ping'
    """
    with told():
        from sim.hall.site import environment, inside, machines  # noqa: PLC0415

        name = site_name(site)
        machines(name)
        words = inside(name, command)
        os.execvpe(words[0], words, environment(name))  # noqa: S606 - the user's own command


@app.command()
def status(site: Site, *, as_json: AsJson = False) -> None:
    """
    Say what runs of a hall, and how much memory it takes.

    Exit status: 0 its BMCs run, 2 it is not up, 4 some BMCs do not run.

    Example: coldaisle sim hall status hall --json
    """
    with told():
        from sim.hall.site import status as look  # noqa: PLC0415

        found = look(site_name(site))
    if as_json:
        print_json(asdict(found))
    else:
        _print(found)
    if found.bmcs and not found.bmc_processes:
        raise typer.Exit(ExitCode.CHECK_FAILED)


@app.command()
def fault(  # noqa: PLR0913 - the options of a command
    site: Site,
    name: Annotated[str, typer.Argument(help="The fault; `coldaisle sim fault SITE` prints all of them.")],
    host: Annotated[str, typer.Argument(help="The node that it hits.")],
    *,
    clear: Annotated[bool, typer.Option("--clear", help="Take the fault back.")] = False,
    port: Annotated[str, typer.Option("--port", help="The port of a cable's fault.")] = "",
    setting: Annotated[list[str] | None, typer.Option("--set", help="An option of the fault, NAME=VALUE.")] = None,
) -> None:
    """
    Put a fault in force on a node of a hall, or take it back.

    Example: coldaisle sim hall fault hall wrong-cable r01-n01; coldaisle sim hall fault hall bmc-hang r01-n02 --clear
    """
    plan = plan_of(site)
    options = ({"port": port} if port else {}) | dict(map(pair, setting or ()))
    with told():
        from sim import faults  # noqa: PLC0415
        from sim.hall.plan import Wanted, hall_plan  # noqa: PLC0415
        from sim.hall.site import state_of  # noqa: PLC0415

        state = state_of(plan.name)
        target = faults.find_target(hall_plan(plan, state, Wanted()), state, host)
        typer.echo(faults.change(target, name, options, back=clear))


@app.command()
def down(site: Site) -> None:
    """
    Remove every trace of a hall: processes, namespaces, mounts, state and keys.

    Example: coldaisle sim hall down hall
    """
    with told():
        from sim.hall.site import down as stop  # noqa: PLC0415

        stop(site_name(site), progress())


def _print(found: HallStatus) -> None:
    typer.echo(f"BMCs:     {found.bmcs} in {found.bmc_processes} processes")
    typer.echo(f"machines: {len(found.on)} of {len(found.machines)} are on")
    typer.echo(f"memory:   {found.memory_bytes / 2**20:.0f} MiB")
