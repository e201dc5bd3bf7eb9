"""What the next `up` costs, as a table for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from coldaisle.units import counted

if TYPE_CHECKING:
    from coldaisle.waves.estimate import Estimate


def print_impact(found: Sequence[Estimate], closed: Mapping[str, str], console: Console | None = None) -> None:
    """Print a line a play, then what has no way back, what was guessed, and what may not start now."""
    console = console or Console()
    if not found:
        console.print("No host that is set up would change.")
        return
    table = Table(title="Impact of the next up", title_justify="left", header_style="bold")
    table.add_column("play")
    for column in ("hosts", "reboot", "drained", "waves", "takes about", "GPU-hours lost"):
        table.add_column(column, justify="right")
    for it in found:
        counts = (str(it.hosts), str(it.reboots), str(it.drains), str(len(it.waves)))
        table.add_row(it.play, *counts, _time(it.seconds), f"{it.gpu_hours:g}")
    console.print(table)
    for it in found:
        for why, hosts in it.no_way_back.items():
            console.print(f"{it.play}: no way back on {counted(hosts, 'host')}: {why}", highlight=False)
        if it.guessed:
            console.print(f"{it.play}: guessed, never measured here: {', '.join(it.guessed)}", highlight=False)
        if it.play in closed:
            console.print(f"{it.play}: may not start now; the window opens {closed[it.play]}", highlight=False)


def _time(seconds: float) -> str:
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
