"""
SONiC on the switch itself: its running configuration, and how it is given another one by its generic updater.

SONiC has no commit timer: a checkpoint and the timer of `run_switch` are one. What is not the fabric's is given back as
it stands.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.frr import established
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, run
from ansible_collections.coldaisle.site.plugins.module_utils.qos_maps import of_sonic
from ansible_collections.coldaisle.site.plugins.module_utils.sonic_sections import listed, merged, sections

__all__ = [
    "APPLY_S",
    "FOLDER",
    "HINT",
    "apply",
    "effective",
    "established",
    "forget",
    "is_here",
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

FOLDER = Path("/etc/sonic/coldaisle")
APPLY_S = 600.0
"""The updater orders changes by their dependencies, which takes minutes for a whole switch."""

HINT = "sonic-cfggen -d --print-data on the switch"


def is_here() -> bool:
    """Tell whether this switch runs SONiC."""
    return Path("/etc/sonic").is_dir()


def running_text() -> str:
    """
    Return the running configuration, as JSON.

    Raises:
        FactError: SONiC's database does not answer.

    """
    return run("sonic-cfggen", "-d", "--print-data", timeout_s=60)


def wanted_text(config: str, before: str, *, keep_extra: bool) -> str:
    """Return the whole configuration that a planned one makes of a running one."""
    return json.dumps(merged(json.loads(before), json.loads(config), keep_extra=keep_extra))


def effective() -> dict[str, str]:
    """
    Return the maps of QoS that the chip has, whatever the configuration says.

    Raises:
        FactError: the database of the chip's objects does not answer.

    """
    found: dict[str, dict[str, str]] = {}
    for kind in ("QOS_MAP", "PORT", "SWITCH"):
        shown = run("sonic-db-dump", "-n", "ASIC_DB", "-k", f"ASIC_STATE:SAI_OBJECT_TYPE_{kind}:*", "-y", timeout_s=60)
        found |= {key: one["value"] for key, one in json.loads(shown or "{}").items()}
    return of_sonic(found)


def is_planned(config: str, peer: str) -> bool:
    """Tell whether a configuration has a session with a peer."""
    return any(row.rpartition("|")[2] == peer for row in json.loads(config).get("BGP_NEIGHBOR", {}))


def remember(token: str, _before: str) -> None:
    """
    Take a checkpoint of the running configuration.

    Raises:
        FactError: SONiC refuses.

    """
    run("config", "checkpoint", _checkpoint(token), timeout_s=60)


def apply(path: Path) -> None:
    """
    Make a file the running configuration, changing only what differs.

    Raises:
        FactError: SONiC refuses it, or could not follow it to the end.

    """
    run("config", "replace", str(path), timeout_s=APPLY_S)


def take_back(token: str) -> list[str]:
    """Return the command that makes the remembered configuration the running one."""
    return ["config", "rollback", _checkpoint(token)]


def save() -> None:
    """
    Keep the running configuration after the next start.

    Raises:
        FactError: SONiC refuses.

    """
    run("config", "save", "-y", timeout_s=60)


def forget(token: str) -> None:
    """Remove what was remembered."""
    with contextlib.suppress(FactError):
        run("config", "delete-checkpoint", _checkpoint(token), timeout_s=60)


def _checkpoint(token: str) -> str:
    return f"coldaisle-{token}"
