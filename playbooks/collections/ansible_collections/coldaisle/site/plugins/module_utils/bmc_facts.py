"""A BMC's facts, read and settled with one login."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, Bmc, BmcError, reach_power, retried
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, Value
from ansible_collections.coldaisle.site.plugins.module_utils.secrets import read_credentials

ACCESS_OPTIONS: dict[str, dict[str, Any]] = {
    "address": {"type": "str", "required": True},
    "protocol": {"type": "str", "choices": ["redfish", "ipmi"], "required": True},
    "credentials": {"type": "str", "required": True, "no_log": False},
    "ca_file": {"type": "path"},
    "timeout_s": {"type": "float", "default": 20.0},
}
"""Options of both BMC modules. `credentials` is a reference, so it may be shown."""


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

    return retried(lambda: IpmiBmc(access))


def read_bmc(params: dict[str, Any], names: Iterable[str]) -> tuple[dict[str, Value], dict[str, str]]:
    """Return the facts that the BMC told, and for each other one why not."""
    seen: dict[str, Value] = {}
    errors: dict[str, str] = {}
    try:
        bmc = connect(params)
    except (BmcError, FactError) as error:
        return seen, dict.fromkeys(names, str(error))
    readers = {"power": bmc.power, "boot_order": bmc.first_boot_device}
    for name in names:
        try:
            seen[name] = retried(readers[name])
        except KeyError:
            errors[name] = f"{name} is not a fact of a BMC; the facts are {', '.join(readers)}"
        except BmcError as error:
            errors[name] = str(error)
    return seen, errors


def settle_bmc(bmc: Bmc, planned: dict[str, str], timeout_s: float, *, check: bool) -> list[dict[str, str]]:
    """
    Make boot order and power true, in this order, and read each back. Return what did not fit at first.

    Raises:
        BmcError: the BMC refused, or took a command without following it.

    """
    changes = []
    for name in ("boot_order", "power"):
        if name not in planned:
            continue
        read = bmc.power if name == "power" else bmc.first_boot_device
        seen = retried(read)
        if seen == planned[name]:
            continue
        changes.append({"fact": name, "seen": seen, "planned": planned[name]})
        if not check:
            _set(bmc, name, planned[name], timeout_s)
    return changes


def _set(bmc: Bmc, name: str, value: str, timeout_s: float) -> None:
    if name == "power":
        reach_power(bmc, value, timeout_s)
        return
    retried(lambda: bmc.set_first_boot_device(value))
    seen = retried(bmc.first_boot_device)
    if seen != value:
        raise BmcError("not-kept", f"the BMC took boot device {value} and shows {seen}", "the BMC's firmware version")
