"""The work of `coldaisle bmc sensors` and `coldaisle bmc log`: one login over either protocol, and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from coldaisle.cli.bmc import refuse
from coldaisle.cli.collection import use_collection
from coldaisle.cli.exit_codes import ExitCode

use_collection()
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError  # noqa: E402 - needs that path
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log import (  # noqa: E402
    Entry,
    ipmi_entry,
    newest,
    redfish_log,
)
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_sensors import (  # noqa: E402
    Sensor,
    ipmi_sensor,
    redfish_sensors,
)
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_slots import connection  # noqa: E402
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError  # noqa: E402
from ansible_collections.coldaisle.site.plugins.module_utils.secrets import read_credentials  # noqa: E402

if TYPE_CHECKING:
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import Service

    from coldaisle.plan.model import BmcPlan

Answer = TypeVar("Answer")

TIMEOUT_S = 20.0
WAIT_S = 60.0
"""How long a person waits for a connection that plays hold."""


def read_sensors(bmc: BmcPlan) -> list[Sensor]:
    """Return what a BMC measures."""
    return ask_bmc(bmc, redfish_sensors, lambda ipmi: [ipmi_sensor(reading) for reading in ipmi.sensors()])


def read_log(bmc: BmcPlan, last: int) -> list[Entry]:
    """Return the newest entries of a BMC's logs, the newest last."""
    return ask_bmc(
        bmc,
        lambda service: redfish_log(service, last),
        lambda ipmi: newest((ipmi_entry(event) for event in ipmi.events()), last),
    )


def ask_bmc(
    bmc: BmcPlan, redfish: Callable[[Service], Answer], ipmi: Callable[[IpmiBmc], Answer], *, changes: bool = False
) -> Answer:
    """
    Ask a BMC over the protocol that the plan says it speaks; who changes something is alone in that.

    Raises:
        typer.Exit: it does not tell; the message says why.
    """
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc  # noqa: PLC0415
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import Service  # noqa: PLC0415

    try:
        access = _access(bmc)
        with connection(bmc.address, changes=changes, timeout_s=WAIT_S):
            if bmc.protocol == "redfish":
                with closing(Service(access)) as service:
                    return redfish(service)
            with closing(IpmiBmc(access)) as session:
                return ipmi(session)
    except (BmcError, FactError) as error:
        refuse(f"BMC {bmc.address} ({bmc.protocol}): {error}", ExitCode.COULD_NOT_TELL)


def _access(bmc: BmcPlan) -> Access:
    username, password = read_credentials(bmc.credentials)
    ca_file = str(Path(bmc.ca_file).expanduser()) if bmc.ca_file else None
    return Access(bmc.address, username, password, ca_file, TIMEOUT_S)


def print_sensors(found: Sequence[Sensor]) -> None:
    """Print a line a sensor."""
    width = max((len(sensor.name) for sensor in found), default=0)
    for sensor in found:
        value = "-" if sensor.value is None else f"{sensor.value:g} {sensor.unit}".rstrip()
        typer.echo(f"{sensor.name:{width}}  {value:>14}  {sensor.health:8} {', '.join(sensor.states)}".rstrip())
    if not found:
        typer.echo("the BMC describes no sensor")


def print_log(found: Sequence[Entry]) -> None:
    """Print a line an entry."""
    for entry in found:
        typer.echo(f"{entry.at or '-':25}  {entry.severity:8} {entry.source}: {entry.text}")
    if not found:
        typer.echo("the log is empty")
