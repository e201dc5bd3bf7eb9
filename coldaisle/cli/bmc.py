"""`coldaisle bmc`: BMCs found on the network, what they measure and log, and who holds the power of a node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json

if TYPE_CHECKING:
    from coldaisle.plan.model import BmcPlan, SitePlan

app = typer.Typer(
    help="Find BMCs, read them, and hold the power of nodes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Node = Annotated[str, typer.Argument(metavar="NODE", help="A node of the site, or the address of its BMC.")]
Leases = Annotated[list[Path], typer.Option("--leases", metavar="FILE", help="A lease file: dnsmasq, dhcpd, Kea.")]
Ranges = Annotated[list[str], typer.Option("--range", metavar="A-B", help="Addresses from A to B, or a subnet.")]
Lists = Annotated[list[Path], typer.Option("--list", metavar="FILE", help="A file with an address a line.")]
AtOnce = Annotated[int, typer.Option("--at-once", min=1, max=512, help="How many addresses are asked at once.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds that an address has for its answer.")]
Login = Annotated[bool, typer.Option("--login", help="Log in with the site's credentials, for serial, model and MAC.")]
Why = Annotated[str, typer.Option("--why", help="What others are told who want the power of the node.")]
Lasts = Annotated[str, typer.Option("--for", metavar="TIME", help="How long, such as 30m, 2h or 3d.")]


@app.callback()
def _group() -> None:
    """Find BMCs, read them, and hold the power of nodes."""


@app.command()
def discover(  # noqa: PLR0913 - a command's options
    site: Site,
    *,
    leases: Leases = [],  # noqa: B006 - typer makes a fresh list
    ranges: Ranges = [],  # noqa: B006
    lists: Lists = [],  # noqa: B006
    login: Login = False,
    at_once: AtOnce = 64,
    timeout_s: Timeout = 3.0,
    as_json: AsJson = False,
) -> None:
    """
    Look for BMCs, and compare those that answer with the plan's: expected, at a wrong place, unexpected, silent.

    Asks Redfish's service root and IPMI's capabilities, both without a login. Without --leases, --range and --list the
    plan's own BMC addresses are asked. A BMC that tells only a part is kept, with what is missing.

    Exit status: 0 as planned, 2 a file or the spec cannot be used, 3 some BMCs are silent or told only a part,
    5 some are unexpected or at a wrong place.

    Example: coldaisle bmc discover h100-pod --leases /var/lib/misc/dnsmasq.leases
    """
    from coldaisle.cli.bmc_discover import candidates, print_comparison, run  # noqa: PLC0415 - keeps the start light

    plan = _plan(site)
    where = candidates(plan, leases, ranges, lists)
    result = run(plan, where, at_once=at_once, timeout_s=timeout_s, login=login)
    if as_json:
        print_json({"schema_version": "1", "site": plan.name, "asked": len(where), **result.as_json()})
    else:
        print_comparison(result, len(where))
    if result.of("unexpected", "wrong-address", "wrong-mac"):
        raise typer.Exit(ExitCode.CHANGED)
    raise typer.Exit(ExitCode.COULD_NOT_TELL if result.of("silent") or (login and result.gaps) else ExitCode.CLEAN)


@app.command()
def sensors(site: Site, node: Node, *, as_json: AsJson = False) -> None:
    """
    Read the sensors of a node by its BMC. Changes nothing.

    Exit status: 0 read, 3 the BMC does not tell, 4 a sensor is critical.

    Example: coldaisle bmc sensors h100-pod r01-n01
    """
    from coldaisle.cli.bmc_read import print_sensors, read_sensors  # noqa: PLC0415

    found = read_sensors(_bmc(_plan(site), node))
    if as_json:
        print_json({"schema_version": "1", "node": node, "sensors": [it.as_json() for it in found]})
    else:
        print_sensors(found)
    raise typer.Exit(ExitCode.CHECK_FAILED if any(it.health == "critical" for it in found) else ExitCode.CLEAN)


@app.command()
def log(
    site: Site,
    node: Node,
    *,
    last: Annotated[int, typer.Option("--last", min=1, help="How many of the newest entries.")] = 50,
    as_json: AsJson = False,
) -> None:
    """
    Read the event log of a node's BMC, the newest entries last. Changes nothing.

    Exit status: 0 read, 3 the BMC does not tell.

    Example: coldaisle bmc log h100-pod r01-n01 --last 20
    """
    from coldaisle.cli.bmc_read import print_log, read_log  # noqa: PLC0415

    found = read_log(_bmc(_plan(site), node), last)
    if as_json:
        print_json({"schema_version": "1", "node": node, "entries": [it.as_json() for it in found]})
    else:
        print_log(found)


@app.command(name="clear-log")
def clear_log(
    site: Site,
    node: Node,
    *,
    name: Annotated[str | None, typer.Option("--log", help="The log, as 'bmc log' shows it: SEL, or 1/SEL.")] = None,
    as_json: AsJson = False,
) -> None:
    """
    Clear the logs of a node's BMC that are full, or the one that is named: a full log takes no new events.

    What is in a log is kept first, in a file of the site's state folder, and it is read again afterwards.

    Exit status: 0 cleared, or none is full, 3 the BMC does not tell or does not clear it.

    Example: coldaisle bmc clear-log h100-pod r01-n01 --log SEL
    """
    from coldaisle.cli.bmc_clear import clear, print_cleared  # noqa: PLC0415

    plan = _plan(site)
    found = clear(_bmc(plan, node), plan.name, node, name)
    if as_json:
        print_json({"schema_version": "1", "node": node, "cleared": {log: str(file) for log, file in found.items()}})
    else:
        print_cleared(found)


@app.command()
def hold(site: Site, node: Node, *, why: Why, lasts: Lasts = "4h") -> None:
    """
    Put a node into maintenance: until its end no run and no other tool of this machine changes its power.

    Exit status: 0 held, 2 wrong usage, 6 somebody else holds it.

    Example: coldaisle bmc hold h100-pod r01-n01 --why "DIMM swap" --for 2h
    """
    from coldaisle.cli.bmc_leases import hold_node  # noqa: PLC0415

    hold_node(_bmc(_plan(site), node).address, node, why, lasts)


@app.command()
def release(
    site: Site,
    node: Node,
    *,
    force: Annotated[bool, typer.Option("--force", help="End it although somebody else began it.")] = False,
) -> None:
    """
    End the maintenance of a node.

    Exit status: 0 released, or not held, 6 somebody else holds it.
    """
    from coldaisle.cli.bmc_leases import release_node  # noqa: PLC0415

    release_node(_bmc(_plan(site), node).address, node, force=force)


@app.command()
def holds(site: Site, *, as_json: AsJson = False) -> None:
    """Show whose power is held on this machine: by whom, why, since and until when."""
    from coldaisle.cli.bmc_leases import held_nodes, print_held  # noqa: PLC0415

    found = held_nodes(_plan(site))
    if as_json:
        print_json({"schema_version": "1", "held": found})
    else:
        print_held(found)


def _plan(site: str) -> SitePlan:
    from coldaisle.collector import collector_paused  # noqa: PLC0415
    from coldaisle.plan import plan_site  # noqa: PLC0415
    from coldaisle.spec import load_site, site_folder  # noqa: PLC0415

    with collector_paused():
        return plan_site(load_site(site_folder(site)))


def _bmc(plan: SitePlan, node: str) -> BmcPlan:
    """Return the BMC of a node that is named by itself or by its BMC's address."""
    found = next((it for it in plan.nodes if it.bmc and node in {it.name, it.bmc.address}), None)
    if found is None or found.bmc is None:
        refuse(f"there is no node {node} with a BMC in the plan of {plan.name}", ExitCode.INVALID)
    return found.bmc


def refuse(text: str, code: ExitCode) -> NoReturn:
    """
    Say why it does not go on.

    Raises:
        typer.Exit: always.
    """
    typer.echo(text, err=True)
    raise typer.Exit(code)
