"""
A change of a switch that is configured by its API: offered, in force for a while, and kept over a connection made anew.

The timer is the switch's own: a change that cuts the way to it is gone by itself, whatever became of whoever made it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import httpx
from ansible_collections.coldaisle.site.plugins.module_utils.cumulus import CumulusSwitch
from ansible_collections.coldaisle.site.plugins.module_utils.eos import EosSwitch
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, Value
from ansible_collections.coldaisle.site.plugins.module_utils.switch_changes import (
    changes_of,
    diff_of,
    lost_sessions,
    why_not_kept,
)
from ansible_collections.coldaisle.site.plugins.module_utils.switch_http import LostError, connect

Sections = dict[str, str]
RETRY_S = 2.0


class ApiSwitch(Protocol):
    """What a trial asks of a switch; a trial goes by its token."""

    def read(self) -> Sections:
        """Return the sections of the configuration in force."""

    def established(self) -> set[str]:
        """Return the peers whose BGP sessions are up."""

    def effective(self) -> Sections:
        """Return the maps of QoS that the chip follows: `dscp`, and `pfc` where the system tells it."""

    def is_planned(self, config: str, peer: str) -> bool:
        """Tell whether a configuration has a session with a peer."""

    def offer(self, config: str, *, keep_extra: bool) -> tuple[str, Sections]:
        """Load a configuration beside the one in force; return its token and sections as the switch has them."""

    def withdraw(self, token: str) -> None:
        """Forget a configuration that is offered; take back one that is on trial."""

    def commit(self, token: str, timer_s: int) -> None:
        """Put a configuration in force for `timer_s` seconds."""

    def is_on_trial(self, token: str) -> bool:
        """Tell whether a trial's timer still runs."""

    def confirm(self, token: str) -> None:
        """Keep a configuration that is on trial, after the next start too."""


SYSTEMS: dict[str, Any] = {"cumulus": CumulusSwitch, "eos": EosSwitch}
"""How each operating system is spoken to, by its name in the plan."""

ACCESS_OPTIONS: dict[str, dict[str, Any]] = {
    "system": {"type": "str", "choices": sorted(SYSTEMS), "required": True},
    "address": {"type": "str", "required": True},
    "port": {"type": "int"},
    "credentials": {"type": "str", "required": True, "no_log": False},
    "ca_file": {"type": "path"},
}
"""Options of both modules. `credentials` is a reference, so it may be shown."""


def open_switch(access: dict[str, Any], transport: httpx.BaseTransport | None = None) -> ApiSwitch:
    """
    Return a switch by its access; nothing is sent yet.

    Raises:
        FactError: the credentials cannot be read.

    """
    kind = SYSTEMS[access["system"]]
    switch: ApiSwitch = kind(connect(access, access.get("port") or kind.PORT, transport))
    return switch


def try_config(switch: ApiSwitch, config: str, *, keep_extra: bool, timer_s: int, check: bool) -> dict[str, Any]:
    """
    Put a configuration on trial where it differs from the one in force, as the switch itself sees both.

    Check mode offers it, too, and withdraws it: a line that the switch refuses is told of before the day.

    Raises:
        FactError: a line is refused (nothing was changed then), or contact is lost.

    """
    before = switch.read()
    token, offered = switch.offer(config, keep_extra=keep_extra)
    changes = changes_of(before, offered)
    result = {"changed": bool(changes), "token": "", "sections": list(changes), "diff": diff_of(changes)}
    if check or not changes:
        if token:
            switch.withdraw(token)
        return result
    stay = sorted(peer for peer in switch.established() if switch.is_planned(config, peer))
    try:
        switch.commit(token, timer_s)
    except LostError as error:
        raise FactError(f"{error}; within {timer_s} s it takes its old configuration back by itself") from error
    return {**result, "token": token, "trial": {"sessions": stay, "offered": offered}}


def keep_config(switch: ApiSwitch, token: str, trial: dict[str, Any], *, sessions_s: float) -> dict[str, Any]:
    """
    Keep the configuration on trial where all is as offered and no session was lost; else take it back at once.

    Raises:
        FactError: it was taken back, or the switch can no longer be reached and takes it back by itself.

    """
    try:
        return _kept(switch, token, trial, sessions_s)
    except LostError as error:
        raise FactError(f"{error}; unless it was kept by then, the switch takes its old configuration back") from error


def _kept(switch: ApiSwitch, token: str, trial: dict[str, Any], sessions_s: float) -> dict[str, Any]:
    if not _reached(lambda: switch.is_on_trial(token), sessions_s):
        raise FactError("the trial's time ran out, and the switch has taken its old configuration back")
    lost = lost_sessions(trial["sessions"], switch.established, sessions_s)
    wrong = sorted(changes_of(switch.read(), trial["offered"]))
    if lost or wrong:
        switch.withdraw(token)
        raise FactError(f"{why_not_kept(lost, wrong)}: the old configuration is back")
    switch.confirm(token)
    return {"changed": True, "sections": []}


def _reached(ask: Callable[[], bool], wait_s: float) -> bool:
    """Return an answer of a switch that may be out of reach for a moment, such as while its routes change."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            return ask()
        except LostError:
            if time.monotonic() > deadline:
                raise
            time.sleep(RETRY_S)


def read_switch(switch: ApiSwitch, wanted: list[str]) -> tuple[dict[str, Value], dict[str, str]]:
    """
    Return the facts of a switch that it told, and for each other one why not.

    They are `config.SECTION`, `config_sections`, and what the chip does: `effective.dscp` and `effective.pfc`.
    """
    seen: dict[str, Value] = {}
    errors: dict[str, str] = {}
    effects = [name for name in wanted if name.startswith("effective.")]
    for names, told in ((effects, _effects), ([name for name in wanted if name not in effects], _configured)):
        try:
            found = told(switch, names) if names else {}
        except FactError as error:
            errors |= dict.fromkeys(names, str(error))
            continue
        seen |= found
        errors |= {name: f"{name} is not a fact that this switch tells" for name in names if name not in found}
    return seen, errors


def ask_switch(access: dict[str, Any], names: list[str]) -> tuple[dict[str, Value], dict[str, str]]:
    """Return the facts of a switch that it told over its API, and for each other one why not."""
    try:
        return read_switch(open_switch(access), names)
    except FactError as error:
        return {}, dict.fromkeys(names, str(error))


def _configured(switch: ApiSwitch, names: list[str]) -> dict[str, Value]:
    found = switch.read()
    sections = [(name, name.partition(".")) for name in names]
    seen: dict[str, Value] = {name: found.get(rest, "absent") for name, (kind, _, rest) in sections if kind == "config"}
    return seen | ({"config_sections": ", ".join(sorted(found))} if "config_sections" in names else {})


def _effects(switch: ApiSwitch, names: list[str]) -> dict[str, Value]:
    found = {f"effective.{key}": value for key, value in switch.effective().items()}
    return {name: found[name] for name in names if name in found}
