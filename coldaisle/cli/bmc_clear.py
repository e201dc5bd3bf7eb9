"""The work of `coldaisle bmc clear-log`: entries into a file, then the log is cleared and read again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from coldaisle.cli.bmc import refuse
from coldaisle.cli.bmc_read import ask_bmc
from coldaisle.cli.collection import use_collection
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.files import write_whole
from coldaisle.paths import shown, state_dir

use_collection()
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log import Entry  # noqa: E402 - needs that path
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log_clear import (  # noqa: E402
    clear_ipmi,
    clear_redfish,
)

if TYPE_CHECKING:
    from coldaisle.plan.model import BmcPlan


def clear(bmc: BmcPlan, site: str, node: str, name: str | None) -> dict[str, Path]:
    """Clear the log of a name, else those that are full; return the file of each that was cleared, by its name."""
    folder = state_dir(site) / "bmc-logs"
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    files: dict[str, Path] = {}

    def keep(log: str, entries: list[Entry]) -> None:
        files[log] = folder / f"{node}-{log.replace('/', '-')}-{stamp}.json"
        body = {"schema_version": "1", "node": node, "log": log, "entries": [entry.as_json() for entry in entries]}
        try:
            write_whole(files[log], json.dumps(body, indent=2) + "\n", sync=True)
        except OSError as error:
            where = shown(files[log])
            text = f"{log} is not cleared: its entries cannot be kept\n  where: {where}\n  have:  {error.strerror}"
            refuse(f"{text}\n  fix:   make room there, or name another place by XDG_STATE_HOME", ExitCode.OUR_FAULT)

    cleared = ask_bmc(
        bmc,
        lambda service: clear_redfish(service, name, keep),
        lambda session: clear_ipmi(session, name, keep),
        changes=True,
    )
    return {log: files[log] for log in cleared}


def print_cleared(found: Mapping[str, Path]) -> None:
    """Print a line a log."""
    for log, file in found.items():
        typer.echo(f"{log}: cleared; its entries are in {shown(file)}")
    if not found:
        typer.echo("no log is full; name one with --log to clear it all the same")
