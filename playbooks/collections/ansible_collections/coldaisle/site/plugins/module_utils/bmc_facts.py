"""A BMC's facts, read with one login."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import (
    Access,
    Bmc,
    BmcError,
    Setting,
    SettingsBmc,
    retried,
)
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_slots import CONNECTIONS, connection
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, Value
from ansible_collections.coldaisle.site.plugins.module_utils.secrets import read_credentials

BESIDE = ("firmware.", "event_destination")
"""What the names of facts begin with that a BMC's system does not show (see bmc_beside)."""

EVENT_LOG = "event_log"
"""The fact of what the BMC has logged; behind a dot is the time after which (see bmc_event_log)."""

ACCESS_OPTIONS: dict[str, dict[str, Any]] = {
    "address": {"type": "str", "required": True},
    "protocol": {"type": "str", "choices": ["redfish", "ipmi"], "required": True},
    "credentials": {"type": "str", "required": True, "no_log": False},
    "ca_file": {"type": "path"},
    "timeout_s": {"type": "float", "default": 20.0},
    "vendor": {"type": "str", "default": "any"},
    "connections": {"type": "int", "default": CONNECTIONS},
}
"""Options of both BMC modules. `credentials` is a reference, so it may be shown."""

IDENTITY = ("machine_uuid", "machine_serial")
"""Facts that say which machine a BMC belongs to. Nothing makes them true: with another one nothing else is set."""

SETTINGS = ("boot_mode", "secure_boot", "bios", "boot_nic", "virtual_media", "boot_override")
"""Facts that only Redfish has; those of `bios` go by the attribute's name behind a dot."""


def connect(params: dict[str, Any]) -> Bmc:
    """
    Log in to a BMC.

    Raises:
        BmcError: the BMC cannot be reached, or does not let us in.
        FactError: the credentials cannot be read.

    """
    username, password = read_credentials(params["credentials"])
    access = Access(params["address"], username, password, params["ca_file"], params["timeout_s"])
    if params["protocol"] == "redfish":
        from ansible_collections.coldaisle.site.plugins.module_utils.bmc_redfish import RedfishBmc  # noqa: PLC0415

        return retried(lambda: RedfishBmc(access))
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc  # noqa: PLC0415

    return retried(lambda: IpmiBmc(access, params.get("vendor") or "any"))


@contextlib.contextmanager
def logged_in(params: dict[str, Any], *, changes: bool = False) -> Iterator[Bmc]:
    """
    Hold one of a BMC's connections and log in over it; at the end the session is gone from the BMC.

    Raises:
        BmcError: no connection became free, or as `connect`.
        FactError: as `connect`.

    """
    limit = params.get("connections") or CONNECTIONS
    with connection(params["address"], changes=changes, limit=limit), contextlib.closing(connect(params)) as bmc:
        yield bmc


def read_bmc(params: dict[str, Any], names: Iterable[str]) -> tuple[dict[str, Value], dict[str, str]]:
    """Return the facts that the BMC told, and for each other one why not."""
    seen: dict[str, Value] = {}
    errors: dict[str, str] = {}
    wanted = list(names)
    beside = [name for name in wanted if name.startswith(BESIDE)]
    logs = [name for name in wanted if name.partition(".")[0] == EVENT_LOG]
    try:
        with logged_in(params) as bmc:
            read_over(bmc, [name for name in wanted if name not in {*beside, *logs}], seen, errors)
            if logs:
                _read_logs(params, bmc, logs, seen, errors)
            if beside:
                from ansible_collections.coldaisle.site.plugins.module_utils.bmc_beside import (  # noqa: PLC0415
                    read_beside,
                )

                found, why = read_beside(params, beside)
                seen |= found
                errors |= why
    except (BmcError, FactError) as error:
        return seen, dict.fromkeys([it for it in wanted if it not in seen], str(error)) | errors
    return seen, errors


def read_over(bmc: Bmc, names: Iterable[str], seen: dict[str, Value], errors: dict[str, str]) -> None:
    """Put each fact of a BMC's system into `seen`, or into `errors` why it could not be read."""
    for name in names:
        try:
            seen[name] = read_fact(bmc, name).text
        except BmcError as error:
            errors[name] = str(error)


def _read_logs(
    params: dict[str, Any], bmc: Bmc, names: Iterable[str], seen: dict[str, Value], errors: dict[str, str]
) -> None:
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_event_log import event_log  # noqa: PLC0415

    for name in names:
        try:
            seen[name] = event_log(params, bmc, name.partition(".")[2])
        except BmcError as error:
            errors[name] = str(error)


def read_parts(params: dict[str, Any]) -> tuple[dict[str, list[dict[str, Any]]], dict[str, str]]:
    """
    Return the parts that a BMC shows by their kind, and for each kind that is incomplete why.

    Raises:
        BmcError: the BMC cannot be reached, or its protocol tells no parts.
        FactError: the credentials cannot be read.

    """
    with logged_in(params) as bmc:
        found = with_settings(bmc, "inventory").inventory()
    return found.parts, found.gaps


def read_fact(bmc: Bmc, name: str) -> Setting:
    """
    Return one fact.

    Raises:
        BmcError: there is no such fact, or the BMC does not tell it.

    """
    readers: dict[str, Callable[[], str]] = {
        "machine_uuid": bmc.machine_uuid,
        "boot_order": bmc.first_boot_device,
        "power": bmc.power,
        "power_limit_w": bmc.power_limit,
        "power_policy": bmc.power_policy,
    }
    if name in readers:
        return Setting(retried(readers[name]))
    if name.partition(".")[0] not in {*SETTINGS, *IDENTITY}:
        known = ", ".join((*readers, *IDENTITY[1:], *SETTINGS))
        raise BmcError("no-fact", f"{name} is not a fact of a BMC", f"the facts, which are {known}")
    settings = with_settings(bmc, name)
    return retried(lambda: settings.setting(name))


def with_settings(bmc: Bmc, name: str) -> SettingsBmc:
    """
    Return the BMC as one that has settings.

    Raises:
        BmcError: its protocol has none.

    """
    if isinstance(bmc, SettingsBmc):
        return bmc
    raise BmcError("not-over-ipmi", f"{name} is not read or set over IPMI", "bmc_protocol of the node: redfish does")
