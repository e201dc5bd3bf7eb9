"""`coldaisle fabric survive`: what the loss of any one part of a fabric costs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json, print_problems

if TYPE_CHECKING:
    from coldaisle.check import CheckedSite
    from coldaisle.plan.model import LossPlan

COLUMNS = ("fabric", "loss of any", "worst")
NUMBERS = ("cut off", "ports lost", "left", "promised")
PROMISES = frozenset({"not-survived", "single-point-of-failure"})


def survive(site: Site, *, as_json: AsJson = False) -> None:
    """
    Print for each fabric and each kind of part what the worst loss of one costs.

    Parts are a node's link, an uplink, a transceiver, a switch of each tier, a feed of a rack, and a part of the power
    chain. Told are nodes that are cut off, the most ports that one node loses, and the share of the bandwidth between
    two halves of the leaves that is left. What a fabric promises is its `survives`, or else what its shape allows.

    Exit status: 0 every promise is kept, 2 the spec cannot be used, 4 one is broken.

    Example: coldaisle fabric survive h100-pod
    """
    from coldaisle.check import open_site  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.spec import site_folder  # noqa: PLC0415

    checked = open_site(site_folder(site))
    broken = [finding for finding in checked.findings if finding.check in PROMISES]
    if as_json:
        losses = [asdict(loss) for loss in checked.plan.survival]
        print_json({"schema_version": checked.plan.schema_version, "site": checked.plan.name, "losses": losses})
    else:
        _print(checked)
        print_problems(broken)
    raise typer.Exit(ExitCode.CHECK_FAILED if broken else ExitCode.CLEAN)


def _print(checked: CheckedSite) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(header_style="bold")
    for column in COLUMNS:
        table.add_column(column)
    for column in NUMBERS:
        table.add_column(column, justify="right")
    for loss in checked.plan.survival:
        table.add_row(*_cells(loss))
    Console().print(table)


def _cells(loss: LossPlan) -> tuple[str, ...]:
    share = "-" if loss.bisection_left is None else f"{loss.bisection_left:.1%}"
    cut = str(loss.hosts_cut_off) + (f", {loss.unknown_devices} not known" if loss.unknown_devices else "")
    kept = "no" if not loss.promised else "broken" if loss.hosts_cut_off else "yes"
    return loss.fabric, loss.kind, loss.part or "whichever", cut, str(loss.rails_lost), share, kept
