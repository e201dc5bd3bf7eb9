"""A BMC's facts, read and settled with one login."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    readers = _readers(bmc)
    for name in names:
        try:
            seen[name] = retried(readers[name])
        except KeyError:
            errors[name] = f"{name} is not a fact of a BMC; the facts are {', '.join(readers)}"
        except BmcError as error:
            errors[name] = str(error)
    return seen, errors


def _readers(bmc: Bmc) -> dict[str, Callable[[], str]]:
    """Return what reads each fact, in the order in which they are settled."""
    return {"boot_order": bmc.first_boot_device, "power": bmc.power, "power_limit_w": bmc.power_limit}


def settle_bmc(bmc: Bmc, planned: dict[str, str], timeout_s: float, *, check: bool) -> list[dict[str, str]]:
    """
    Make boot order, power and power limit true, in this order, and read each back. Return what did not fit at first.

    The limit comes last: many BMCs take and show one only while the machine is on.

    Raises:
        BmcError: the BMC refused, or took a command without following it.

    """
    changes = []
    for name, read in _readers(bmc).items():
        if name not in planned:
            continue
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
    limit = name == "power_limit_w"
    retried(lambda: bmc.set_power_limit(int(value)) if limit else bmc.set_first_boot_device(value))
    seen = retried(_readers(bmc)[name])
    if seen != value:
        what = f"power limit {value} W" if limit else f"boot device {value}"
        raise BmcError("not-kept", f"the BMC took {what} and shows {seen}", "the BMC's firmware version")
