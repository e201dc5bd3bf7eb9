"""The systems of switches that are configured on themselves, over SSH, and the facts that are read of them there."""

from __future__ import annotations

import functools

from ansible_collections.coldaisle.site.plugins.module_utils import frr, sonic
from ansible_collections.coldaisle.site.plugins.module_utils.host import Fact, Value

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


def _names(_rest: str) -> Value:
    return ", ".join(_here().listed(_running()))


FACTS: dict[str, Fact] = {
    "config": Fact(_section, None, _here().HINT, from_files=True),
    "config_sections": Fact(_names, None, "sections that no plan has", from_files=True),
}
"""`config.SECTION` is a section's text, `config_sections` the names of all that there are."""
