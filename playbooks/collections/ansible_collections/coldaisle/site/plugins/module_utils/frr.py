"""FRR on the switch itself: its running configuration and sessions, and how it is given another one."""

from __future__ import annotations

import json
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.frr_sections import listed, sections, without
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = [
    "APPLY_S",
    "FOLDER",
    "HINT",
    "apply",
    "effective",
    "established",
    "forget",
    "is_planned",
    "listed",
    "remember",
    "running_text",
    "save",
    "sections",
    "take_back",
    "wanted_text",
]
"""What a trial needs of a system (`switch_systems.System`)."""

RELOAD = "/usr/lib/frr/frr-reload.py"
"""FRR's own program, which finds the commands that lead from the running configuration to another one."""

APPLY_S = 120.0

FOLDER = Path("/etc/frr/coldaisle")
BEFORE = FOLDER / "before.conf"

HINT = "vtysh -c 'show running-config' on the switch"


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


def wanted_text(config: str, before: str, *, keep_extra: bool) -> str:
    """Return a planned configuration, with the sections of the running one that it does not have where they stay."""
    extra = without(before, set(sections(config))) if keep_extra else ""
    return config.replace("\nend\n", f"\n{extra}end\n")


def effective() -> dict[str, str]:
    """Return the maps of QoS that are in effect: FRR routes, and has none."""
    return {}


def is_planned(config: str, peer: str) -> bool:
    """Tell whether a configuration has a session with a peer."""
    return f" {peer} " in config


def remember(_token: str, before: str) -> None:
    """Write the running configuration down."""
    BEFORE.touch(mode=0o600)
    BEFORE.write_text(before, encoding="utf-8")


def apply(path: Path) -> None:
    """
    Make a file the running configuration, changing only what differs.

    Raises:
        FactError: FRR refuses a line, or its program is missing.

    """
    if not Path(RELOAD).is_file():
        raise FactError(f"{RELOAD} is not there: install FRR's tools (on Debian and Ubuntu, frr-pythontools)")
    run(*_reload(path), timeout_s=APPLY_S, mark="ERROR\x1b[0m")


def take_back(_token: str) -> list[str]:
    """Return the command that makes the configuration that was written down the running one."""
    return _reload(BEFORE)


def save() -> None:
    """
    Keep the running configuration after the next start.

    Raises:
        FactError: a daemon does not answer.

    """
    run("vtysh", "--writeconfig")


def forget(_token: str) -> None:
    """Leave what was written down: the next trial writes over it."""


def _reload(path: Path) -> list[str]:
    return ["python3", RELOAD, "--reload", "--stdout", str(path)]


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
