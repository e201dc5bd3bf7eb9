"""A BMC's facts made true with one login, in an order that works, and read back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils import bmc as bmc_module
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import (
    Bmc,
    BmcError,
    pause,
    reach_power,
    retried,
)
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import (
    IDENTITY,
    logged_in,
    read_fact,
    with_settings,
)
from ansible_collections.coldaisle.site.plugins.module_utils.facts import rule_of
from ansible_collections.coldaisle.site.plugins.module_utils.rules import fits as same

AFTER_RESET = ("boot_mode", "secure_boot", "bios")
"""Facts that firmware takes over in its power-on self-test."""

AT_ONCE = ("power_policy", "boot_order", "boot_nic", "virtual_media", "boot_override")
"""Facts that hold as soon as the BMC has them, in the order in which they are settled."""

APPLY_POLL_S = 5.0

Change = dict[str, Any]


@dataclass(frozen=True)
class _Terms:
    """How far a run may go: seconds to reach a power state, seconds to apply settings, and whether it may reset."""

    power_timeout_s: float
    apply_timeout_s: float
    may_reset: bool
    check: bool


def settle_bmc(  # noqa: PLR0913 - a login, what is wanted, and how far to go
    bmc: Bmc,
    planned: Mapping[str, str],
    timeout_s: float,
    *,
    check: bool,
    may_reset: bool = False,
    apply_timeout_s: float = 1200.0,
) -> list[Change]:
    """
    Make the facts true, and read each back. Return what did not fit at first.

    Settings of the firmware come first, since only a reset applies them: a machine that is off gets them with its
    power-on, one that is on is reset where that is allowed, and else the change is listed with `pending`. The power
    limit comes last: many BMCs take and show one only while the machine is on.

    Raises:
        BmcError: the BMC refused, or took a command without following it.

    """
    refuse_another(bmc, planned)
    terms = _Terms(timeout_s, apply_timeout_s, may_reset, check)
    staged = _stage(bmc, planned, terms)
    changes = list(staged)
    for name in (name for name in AT_ONCE if name in planned):
        changes += _settle_one(bmc, name, planned[name], terms)
    if staged and not terms.check:
        changes += _apply(bmc, planned, staged, terms)
    for name in (name for name in ("power", "power_limit_w") if name in planned):
        changes += _settle_one(bmc, name, planned[name], terms)
    if staged and not terms.check and not all(change.get("pending") for change in staged):
        _wait_applied(bmc, staged, terms)
    return changes


NOTHING = "nothing was changed"


def refuse_another(bmc: Bmc, planned: Mapping[str, str], done: str = NOTHING) -> None:
    """
    Stop before anything is set where the BMC belongs to another machine than the planned one; `done` goes with it.

    Raises:
        BmcError: it does, or does not tell to which.

    """
    for name in (name for name in IDENTITY if name in planned):
        seen = read_fact(bmc, name).text
        if not same(rule_of(name), planned[name], seen):
            raise BmcError(
                "another-machine",
                f"{name} is {seen}, planned {planned[name]}; {done}",
                "the cable of the BMC, the lease or address of both, and serial and uuid in hardware.yaml",
            )


def see_machine(params: Mapping[str, Any], machine: Mapping[str, str], done: str = NOTHING) -> None:
    """
    Log in, and stop where the BMC belongs to another machine than the planned one, if anything is planned of that.

    Raises:
        BmcError: as `refuse_another`, or nobody is let in.
        FactError: the credentials cannot be read.

    """
    if machine:
        with logged_in(dict(params)) as bmc:
            refuse_another(bmc, machine, done)


def _stage(bmc: Bmc, planned: Mapping[str, str], terms: _Terms) -> list[Change]:
    """Ask for all settings of the firmware that do not fit and are not asked for yet; BIOS attributes together."""
    changes: list[Change] = []
    missing: dict[str, dict[str, str]] = {}
    for name in (name for kind in AFTER_RESET for name in planned if name.partition(".")[0] == kind):
        shown = read_fact(bmc, name)
        if shown.now == planned[name] and shown.then in {None, shown.now}:
            continue
        sent = shown.then != planned[name]
        changes.append({"fact": name, "seen": shown.text, "planned": planned[name], "sent": sent})
        if sent:
            missing.setdefault(name.partition(".")[0], {})[name] = planned[name]
    for kind, wanted in missing.items() if not terms.check else ():
        settings = with_settings(bmc, kind)
        retried(lambda settings=settings, wanted=wanted: settings.change_settings(wanted))  # type: ignore[misc]
    return changes


def _settle_one(bmc: Bmc, name: str, value: str, terms: _Terms) -> list[Change]:
    seen = read_fact(bmc, name).text
    if fits(name, value, seen):
        return []
    if not terms.check:
        _set(bmc, name, value, terms)
    return [{"fact": name, "seen": seen, "planned": value}]


def fits(name: str, planned: str, seen: str) -> bool:
    """Tell whether a fact is as planned; some BMCs show only the last part of an image's URL."""
    return seen == planned or (name == "virtual_media" and seen == planned.rpartition("/")[2])


def _set(bmc: Bmc, name: str, value: str, terms: _Terms) -> None:
    if name == "power":
        reach_power(bmc, value, terms.power_timeout_s)
        return
    if name == "power_limit_w":
        retried(lambda: bmc.set_power_limit(int(value)))
    elif name == "power_policy":
        retried(lambda: bmc.set_power_policy(value))
    elif name == "boot_order":
        retried(lambda: bmc.set_first_boot_device(value))
    else:
        settings = with_settings(bmc, name)
        retried(lambda: settings.change_settings({name: value}))
    seen = read_fact(bmc, name).text
    if not fits(name, value, seen):
        what = {"power_limit_w": f"power limit {value} W", "boot_order": f"boot device {value}"}
        what["power_policy"] = f"power restore policy {value}"
        text = f"the BMC took {what.get(name, f'{name} {value}')} and shows {seen}"
        raise BmcError("not-kept", text, "the BMC's firmware version")


def _apply(bmc: Bmc, planned: Mapping[str, str], staged: list[Change], terms: _Terms) -> list[Change]:
    """Reset a running machine, or turn one on that shall be on: its start applies settings. Return that change."""
    runs = retried(bmc.power) != "off"
    wanted = planned.get("power", "on" if runs else "off")
    if runs and terms.may_reset:
        reach_power(bmc, "off", terms.power_timeout_s)
    if wanted == "on" and (terms.may_reset or not runs):
        reach_power(bmc, "on", terms.power_timeout_s)
        return [] if runs else [{"fact": "power", "seen": "off", "planned": "on"}]
    for change in staged:
        change["pending"] = True
    return []


def _wait_applied(bmc: Bmc, staged: list[Change], terms: _Terms) -> None:
    """Read the settings until firmware has taken them over."""
    deadline = time.monotonic() + terms.apply_timeout_s
    left = [change["fact"] for change in staged]
    wanted = {change["fact"]: change["planned"] for change in staged}
    while left:
        shown = {name: read_fact(bmc, name).now for name in left}
        left = [name for name in left if shown[name] != wanted[name]]
        if left and time.monotonic() > deadline:
            what = ", ".join(f"{name} is {shown[name]}, planned {wanted[name]}" for name in left)
            where = "the BMC's jobs and event log, and whether the machine hangs in its self-test"
            raise BmcError("not-applied", f"{what}, {terms.apply_timeout_s:g} s after the machine was turned on", where)
        if left:
            pause(bmc, min(APPLY_POLL_S, bmc_module.POLL_S * APPLY_POLL_S))
