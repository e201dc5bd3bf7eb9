"""The systems of switches that are configured on themselves, over SSH, and the facts that are read of them there."""

from __future__ import annotations

import functools

from ansible_collections.coldaisle.site.plugins.module_utils import frr, sonic
from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Context,
    Fact,
    FactError,
    Value,
    wait_until,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Protocol

    class System(Protocol):
        """What a trial needs of a system; a module is one. Each function raises FactError where the system refuses."""

        FOLDER: Path
        APPLY_S: float
        HINT: str

        def running_text(self) -> str:
            """Return the running configuration."""

        def sections(self, text: str, /) -> dict[str, str]:
            """Return the sections of a configuration."""

        def listed(self, found: Iterable[str], /) -> list[str]:
            """Return the names of sections that no other service makes."""

        def wanted_text(self, config: str, before: str, /, *, keep_extra: bool) -> str:
            """Return what a planned configuration makes of the running one."""

        def is_planned(self, config: str, peer: str, /) -> bool:
            """Tell whether a configuration has a session with a peer."""

        def effective(self) -> dict[str, str]:
            """Return the maps of QoS that the chip follows: `dscp` and `pfc`."""

        def established(self) -> set[str]:
            """Return the peers whose BGP sessions are up."""

        def remember(self, token: str, before: str, /) -> None:
            """Put the running configuration where `take_back` finds it."""

        def apply(self, path: Path, /) -> None:
            """Make a file the running configuration."""

        def take_back(self, token: str, /) -> list[str]:
            """Return the command that makes the remembered configuration the running one."""

        def save(self) -> None:
            """Keep the running configuration after the next start."""

        def forget(self, token: str, /) -> None:
            """Remove what was remembered."""


EFFECT_S = 30.0
"""Time that a switch may take to give its chip what it was configured with; a port's buffers take some seconds each."""

EFFECT_HINT = "the log of orchagent: a map that the chip did not take stays as it was until `config reload`"

SYSTEMS: dict[str, System] = {"frr": frr, "sonic": sonic}
"""Systems by their names in the plan."""


def _here() -> System:
    """Return the system of this switch. SONiC has FRR inside of it, and makes its configuration itself."""
    return sonic if sonic.is_here() else frr


@functools.cache
def _running() -> dict[str, str]:
    return _here().sections(_here().running_text())


def _section(name: str) -> Value:
    return _running().get(name, "absent")


@functools.cache
def _effective() -> dict[str, str]:
    return _here().effective()


def _in_effect(name: str) -> Value:
    try:
        return _effective()[name]
    except (KeyError, ValueError) as error:
        raise FactError(f"this switch does not tell which map its chip follows ({name})") from error


def _await_effect(name: str, planned: Value, _context: Context) -> None:
    """Wait: a switch gives its configuration to the chip some time after it took it."""

    def done() -> bool:
        _effective.cache_clear()
        return _in_effect(name) == planned

    wait_until(done, timeout_s=EFFECT_S, interval_s=2)


def _names(_rest: str) -> Value:
    return ", ".join(_here().listed(_running()))


FACTS: dict[str, Fact] = {
    "config": Fact(_section, None, _here().HINT, from_files=True),
    "effective": Fact(_in_effect, _await_effect, EFFECT_HINT),
    "config_sections": Fact(_names, None, "sections that no plan has", from_files=True),
}
"""
`config.SECTION` is a section's text, `config_sections` the names of all that there are, and `effective.dscp` and
`effective.pfc` are what the chip does.
"""
