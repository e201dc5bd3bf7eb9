"""FRR on the switch itself: its running configuration and sessions, and how it is given another one."""

from __future__ import annotations

import functools
import json
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.frr_sections import sections
from ansible_collections.coldaisle.site.plugins.module_utils.host import Fact, FactError, Value, run
from ansible_collections.coldaisle.site.plugins.module_utils.switch_changes import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

RELOAD = "/usr/lib/frr/frr-reload.py"
"""FRR's own program, which finds the commands that lead from the running configuration to another one."""

RELOAD_S = 120


def running_text() -> str:
    """
    Return the running configuration.

    Raises:
        FactError: vtysh is missing, or no daemon answers it.

    """
    _head, mark, text = run("vtysh", "-c", "show running-config").partition("frr version ")
    if not mark:
        raise FactError("vtysh shows no configuration: do FRR's daemons run?")
    return mark + text


@functools.cache
def _running() -> dict[str, str]:
    return sections(running_text())


def _read_section(name: str) -> Value:
    return _running().get(name, "absent")


FACTS: dict[str, Fact] = {
    "config": Fact(_read_section, None, "vtysh -c 'show running-config' on the switch", from_files=True),
    "config_sections": Fact(lambda _name: names_of(_running()), None, "sections that no plan has", from_files=True),
}
"""`config.SECTION` is a section's text, `config_sections` the names of all that there are."""


def reload_to(path: Path) -> None:
    """
    Make a file the running configuration, changing only what differs.

    Raises:
        FactError: FRR refuses a line, or its program is missing.

    """
    if not Path(RELOAD).is_file():
        raise FactError(f"{RELOAD} is not there: install FRR's tools (on Debian and Ubuntu, frr-pythontools)")
    run("python3", RELOAD, "--reload", "--stdout", str(path), timeout_s=RELOAD_S)


def established() -> set[str]:
    """Return the peers whose BGP sessions are up."""
    try:
        summary = json.loads(run("vtysh", "-c", "show bgp vrf all summary json") or "{}")
    except ValueError:  # without BGP, vtysh says so in words
        return set()
    return {peer for peers in _peers(summary) for peer, state in peers.items() if state.get("state") == "Established"}


def _peers(summary: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - JSON
    if isinstance(summary, dict):
        for name, value in summary.items():
            if name == "peers":
                yield value
            else:
                yield from _peers(value)
