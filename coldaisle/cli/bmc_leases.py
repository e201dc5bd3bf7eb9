"""The work of `coldaisle bmc hold`, `release` and `holds`: maintenance of nodes on this machine."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from coldaisle.cli.bmc import refuse
from coldaisle.cli.collection import use_collection
from coldaisle.cli.exit_codes import ExitCode

use_collection()
from ansible_collections.coldaisle.site.plugins.module_utils import bmc_lease  # noqa: E402 - needs that path

if TYPE_CHECKING:
    from coldaisle.plan.model import SitePlan

UNITS_S = {"m": 60, "h": 3600, "d": 86400}


def hold_node(address: str, node: str, why: str, lasts: str) -> None:
    """Put a node into maintenance, or say who holds it."""
    found = re.fullmatch(r"(\d+)([mhd])", lasts)
    if not found or not int(found[1]):
        refuse(f"--for {lasts}: write a number and m, h or d, such as 2h", ExitCode.INVALID)
    try:
        lease = bmc_lease.maintain(address, why, int(found[1]) * UNITS_S[found[2]])
    except bmc_lease.HeldError as error:
        refuse(str(error), ExitCode.IN_USE)
    typer.echo(f"{node} is held by {lease.text}")


def release_node(address: str, node: str, *, force: bool) -> None:
    """End the maintenance of a node, or say whose it is."""
    try:
        lease = bmc_lease.release(address, force=force)
    except bmc_lease.HeldError as error:
        refuse(f"{error}; --force ends it", ExitCode.IN_USE)
    typer.echo(f"{node} was held by {lease.text}" if lease else f"{node} was not in maintenance")


def held_nodes(plan: SitePlan) -> list[dict[str, Any]]:
    """Return the nodes whose power is held, each with its lease."""
    leases = ((node.name, bmc_lease.holder(node.bmc.address)) for node in plan.nodes if node.bmc)
    return [{"node": name, **asdict(lease), "text": lease.text} for name, lease in leases if lease]


def print_held(found: list[dict[str, Any]]) -> None:
    """Print a line a node."""
    for entry in found:
        typer.echo(f"{entry['node']}: {entry['text']}")
    if not found:
        typer.echo("nobody holds the power of a node here")
