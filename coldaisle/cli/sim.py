"""`coldaisle sim`: start, look at, disturb and remove the simulated datacenter of a site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coldaisle.cli import sim_hall, sim_virtual
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json
from coldaisle.cli.sim_shared import checked_site, pair, plan_of, progress, site_name, told

if TYPE_CHECKING:
    from coldaisle.plan.model import SitePlan
    from sim.rdma.records import RdmaReport
    from sim.site import SiteStatus
    from sim.twin.records import TwinReport

PAIR = 2

app = typer.Typer(
    help="A whole site on this machine, made from its plan: real protocols in network namespaces. Needs root.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(sim_hall.app, name="hall")
app.command("virtual")(sim_virtual.virtual)


@app.command()
def up(site: Site) -> None:
    """
    Start the site, or what does not run of it, and print every endpoint.

    Nodes stay off until their BMC turns them on. The first start builds an operating system image (some minutes).

    Exit status: 0 all is up, 1 something did not start, 2 this machine cannot carry the site.

    Example: coldaisle sim up sim
    """
    plan = plan_of(site)
    with told():
        from sim.site import up as start  # noqa: PLC0415 - the simulation is loaded when it is wanted

        status = start(plan, progress())
    _print_endpoints(status)
    if not status.is_up:
        raise typer.Exit(ExitCode.OUR_FAULT)


@app.command()
def down(site: Site) -> None:
    """
    Remove every trace of the site: processes, namespaces, mounts, state and keys. The cache of images stays.

    It also cleans up after a start that was killed.

    Example: coldaisle sim down sim
    """
    with told():
        from sim.site import down as stop  # noqa: PLC0415

        stop(site_name(site), progress())


@app.command()
def status(site: Site, *, as_json: AsJson = False) -> None:
    """
    Say what runs of the site, which faults are in force, and how much memory all of it takes.

    Exit status: 0 all that is always on runs, 4 something does not.

    Example: coldaisle sim status sim --json
    """
    plan = plan_of(site)
    with told():
        from sim.site import status as look  # noqa: PLC0415

        found = look(plan)
    if as_json:
        print_json({**asdict(found), "is_up": found.is_up})
    else:
        _print_endpoints(found)
    if not found.is_up:
        raise typer.Exit(ExitCode.CHECK_FAILED)


@app.command()
def fault(  # noqa: PLR0913 - the options of a command
    site: Site,
    name: Annotated[str, typer.Argument(help="The fault; `list` prints all of them.")] = "list",
    host: Annotated[str, typer.Argument(help="The node that it hits.")] = "",
    *,
    clear: Annotated[bool, typer.Option("--clear", help="Take the fault back.")] = False,
    port: Annotated[str, typer.Option("--port", help="The port of a link or MTU fault.")] = "",
    seed: Annotated[int, typer.Option("--seed", help="Makes what is random repeatable.")] = 0,
    setting: Annotated[list[str] | None, typer.Option("--set", help="An option of the fault, NAME=VALUE.")] = None,
) -> None:
    """
    Put a fault in force on a node, or take it back.

    Example: coldaisle sim fault sim bmc-hang r01-n01; coldaisle sim fault sim bmc-hang r01-n01 --clear
    """
    if name == "list":
        _print_faults()
        return
    plan = plan_of(site)
    options: dict[str, Any] = {"seed": seed, **({"port": port} if port else {})}
    options |= dict(pair(text) for text in setting or ())
    with told():
        _fault(plan, name, host, options, clear=clear)


@app.command()
def load(
    site: Site,
    endpoint: Annotated[str, typer.Argument(help="The model endpoint, by its name in the spec.")],
    *,
    rps: Annotated[float, typer.Option("--rps", min=0.1, help="Requests a second, whether answered or not.")] = 20.0,
    seconds: Annotated[float, typer.Option("--seconds", min=1.0, help="For how long.")] = 60.0,
    as_json: AsJson = False,
) -> None:
    """
    Send OpenAI requests to a model endpoint, round robin over its ready replicas.

    Exit status: 0 every answer was good, 4 some were not.

    Example: coldaisle sim load sim llama --rps 30 --seconds 60
    """
    plan = plan_of(site)
    with told():
        from sim.cluster.load import Load  # noqa: PLC0415
        from sim.cluster.load import load as send  # noqa: PLC0415
        from sim.site import state_of  # noqa: PLC0415

        wanted = Load(endpoint=endpoint, requests_per_s=rps, seconds=seconds)
        report = send(plan, state_of(plan.name).folder, wanted, progress())
    if as_json:
        print_json(report.summary())
    else:
        for name, value in report.summary().items():
            typer.echo(f"{name:14} {value}")
    if report.failed:
        raise typer.Exit(ExitCode.CHECK_FAILED)


@app.command()
def fabric(  # noqa: PLR0913 - the options of a command
    site: Site,
    *,
    name: Annotated[str | None, typer.Option("--fabric", metavar="NAME", help="Only this fabric.")] = None,
    hosts_per_leaf: Annotated[
        int, typer.Option("--hosts-per-leaf", min=1, help="Hosts that run for each leaf, of those that are planned.")
    ] = 2,
    pull: Annotated[
        list[str] | None, typer.Option("--pull", metavar="CABLE", help="Leave a cable out: DEVICE:PORT of an end.")
    ] = None,
    swap: Annotated[
        tuple[str, str] | None, typer.Option("--swap", metavar="CABLE CABLE", help="Exchange two cables' upper plugs.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """
    Run a fabric as it is planned, and check what was planned of it: the twin.

    Routed fabrics run their generated FRR configurations, a network namespace a switch; InfiniBand ones run in ibsim
    with opensm. Nothing is joined to this machine's networks, and nothing stays (docs/twin.md).

    Exit status: 0 all is as planned, 2 it cannot run here, 3 a check could not be run, 4 a check failed.

    Example: coldaisle sim fabric b200-roce --fabric storage --hosts-per-leaf 1
    """
    checked = checked_site(site)
    with told():
        from sim.twin.cables import Mistakes  # noqa: PLC0415
        from sim.twin.report import as_json as plain  # noqa: PLC0415
        from sim.twin.report import print_reports  # noqa: PLC0415
        from sim.twin.run import Request, run_twins  # noqa: PLC0415

        mistakes = Mistakes(tuple(pull or ()), (swap,) if swap else ())
        request = Request(name, hosts_per_leaf, mistakes)
        reports = run_twins(checked.spec, checked.plan, request, progress())
    if as_json:
        print_json(plain(reports))
    else:
        print_reports(reports)
    _end_as(reports)


@app.command()
def rdma(  # noqa: PLR0913 - the options of a command
    site: Site,
    *,
    node: Annotated[
        list[str] | None, typer.Option("--node", metavar="NAME", help="One of the two nodes; give it twice.")
    ] = None,
    short_cable: Annotated[
        list[str] | None, typer.Option("--short-cable", metavar="PORT", help="This port's cable takes 1500 bytes only.")
    ] = None,
    host_mtu: Annotated[
        list[str] | None, typer.Option("--host-mtu", metavar="PORT", help="Set this port to 1500 on the first node.")
    ] = None,
    dscp: Annotated[
        int | None, typer.Option("--dscp", min=0, max=63, help="Let the first node mark its connections with this.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """
    Run two nodes as guests, back to back, and prove RDMA over their bond and VLAN.

    They boot over the network, the playbooks os and rdma settle them, and perftest moves data, which is watched on the
    cables outside of them. Nothing is joined to this machine's networks, and nothing stays (docs/rdma-lab.md).

    Exit status: 0 all is as planned, 2 it cannot run here, 3 a check could not be run, 4 a check failed.

    Example: coldaisle sim rdma mysite --node r01-n01 --node r02-n01
    """
    plan = plan_of(site)
    if node and len(node) != PAIR:
        raise typer.BadParameter("give two nodes, or none", param_hint="--node")
    with told():
        from sim.rdma.mistakes import Mistakes  # noqa: PLC0415
        from sim.rdma.report import as_json as plain  # noqa: PLC0415
        from sim.rdma.report import print_report  # noqa: PLC0415
        from sim.rdma.run import Request, run_pair  # noqa: PLC0415

        mistakes = Mistakes(tuple(short_cable or ()), tuple(host_mtu or ()), dscp)
        report = run_pair(plan, Request(tuple(node or ()), mistakes), progress())
    if as_json:
        print_json(plain(report))
    else:
        print_report(report)
    _end_as([report])


def _end_as(reports: Sequence[TwinReport | RdmaReport]) -> None:
    """End with the status that the checks of reports give."""
    if any(report.count("failed") for report in reports):
        raise typer.Exit(ExitCode.CHECK_FAILED)
    if any(report.count("not run") for report in reports):
        raise typer.Exit(ExitCode.COULD_NOT_TELL)


@app.command()
def install(
    site: Site,
    node: Annotated[str, typer.Argument(help="A node of a pool whose image is Debian's installer.")],
    *,
    timeout_s: Annotated[float, typer.Option("--timeout-s", min=60, help="How long it may take in all.")] = 7200,
    as_json: AsJson = False,
) -> None:
    """
    Rehearse an installation: one machine with an empty disk, from power-on by network boot to SSH from its disk.

    The boot files and the preseed are the plan's own, served by nginx and dnsmasq with the plan's settings in a
    namespace that is joined to nothing; packages come through this machine's apt source. Nothing stays
    (docs/install.md). An emulated CPU takes tens of minutes.

    Exit status: 0 installed and logged in, 2 it cannot run here, or it stopped.

    Example: coldaisle sim install rehearsal r01-n01
    """
    plan = plan_of(site)
    with told():
        from sim.install.run import rehearse  # noqa: PLC0415

        found = rehearse(plan, node, timeout_s, progress())
    if as_json:
        print_json(asdict(found))
        return
    for name, value in asdict(found).items():
        typer.echo(f"{name:15} {value if not isinstance(value, float) else round(value, 1)}")


def _fault(plan: SitePlan, name: str, host: str, options: dict[str, Any], *, clear: bool) -> None:
    from sim import faults  # noqa: PLC0415
    from sim.requirements import require_root  # noqa: PLC0415
    from sim.site import state_of  # noqa: PLC0415

    require_root()
    typer.echo(faults.change(faults.find_target(plan, state_of(plan.name), host), name, options, back=clear))


def _print_faults() -> None:
    from sim.faults import FAULTS  # noqa: PLC0415

    for name, entry in FAULTS.items():
        typer.echo(f"{name:20}  {entry.summary}")


def _print_endpoints(found: SiteStatus) -> None:
    """Print a table of endpoints and the memory of the site."""
    rows = [
        (entry.name, entry.kind, entry.state, ", ".join(entry.faults), entry.address, entry.how)
        for entry in found.endpoints
    ]
    heads = ("NAME", "KIND", "STATE", "FAULTS", "ADDRESS", "HOW")
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads) - 1)]
    for row in (heads, *rows):
        typer.echo(
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        )
    typer.echo(f"memory: {found.memory_bytes / 2**20:.0f} MiB")
