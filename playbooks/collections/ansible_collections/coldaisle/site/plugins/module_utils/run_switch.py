"""
A switch's configuration on trial: applied with a timer that takes it back, and kept over a connection made anew.

A change that cuts the way to the switch is gone by itself after the timer, whatever became of whoever made it. The
timer is ours, for systems that have none of their own.
"""

from __future__ import annotations

import os
import subprocess
import uuid

from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.host import run as command
from ansible_collections.coldaisle.site.plugins.module_utils.switch_changes import (
    changes_of,
    diff_of,
    lost_sessions,
    why_not_kept,
)
from ansible_collections.coldaisle.site.plugins.module_utils.switch_systems import SYSTEMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from ansible_collections.coldaisle.site.plugins.module_utils.switch_systems import System

TAKE_BACK = """
sleep "$1"; pending="$2"; token="$3"; shift 3
[ "$(cat "$pending" 2>/dev/null)" = "$token" ] || exit 0
mv "$pending" "$pending.$$" || exit 0
"$@"
rm -f "$pending.$$"
"""
"""What a timer does. Another change, or one that was kept, has another token or none; of two timers, one is first."""

RAN_OUT = "the trial's time ran out, and the switch has taken its old configuration back"


def run(params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    """Try a configuration, or keep the one that is on trial."""
    system = SYSTEMS[params["system"]]
    try:
        if params["token"]:
            return _keep(system, params["token"], params["sessions_s"])
        return _try(system, params, check=check)
    except FactError as error:
        return {"failed": True, "msg": str(error)}


def _try(system: System, params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    before = system.running_text()
    wanted = system.wanted_text(params["config"], before, keep_extra=params["keep_extra"])
    changes = changes_of(system.sections(before), system.sections(wanted))
    result: dict[str, Any] = {
        "changed": bool(changes),
        "token": "",
        "sections": list(changes),
        "diff": diff_of(changes),
    }
    if not changes or check:
        return result
    token = _write_down(system, before, wanted)
    # While it is applied, another timer would come in between; one is there for a run that ends on the way.
    _start_timer(system, token, params["timer_s"] + system.APPLY_S)
    try:
        system.apply(_wanted(system))
    except FactError as error:
        raise FactError(f"{error}: {_taken_back(system, token)}") from error
    _start_timer(system, token, params["timer_s"])
    return {**result, "token": token}


def _taken_back(system: System, token: str) -> str:
    """Put the old configuration back, and say so; where that fails, the timer tries it again."""
    if _claimed(system):
        try:
            command(*system.take_back(token), timeout_s=system.APPLY_S)
        except FactError as error:
            _held(system).rename(_pending(system))
            return f"the old configuration could not be put back yet ({error}), and the timer tries it again"
        _end(system, token)
    return "the old configuration is back"


def _claimed(system: System) -> bool:
    """Take a trial from its timers, which act without warning; return whether they had left it."""
    try:
        _pending(system).rename(_held(system))
    except FileNotFoundError:
        return False
    return True


def _end(system: System, token: str) -> None:
    for path in (_held(system), _sessions(system, token)):
        path.unlink(missing_ok=True)
    system.forget(token)


def _write_down(system: System, before: str, wanted: str) -> str:
    """Write down both configurations and the sessions of now; return the trial's token."""
    token = uuid.uuid4().hex
    try:
        system.FOLDER.mkdir(mode=0o750, exist_ok=True)
        system.remember(token, before)
        _write(_wanted(system), wanted)
        _write(_sessions(system, token), "\n".join(system.established()))
        _write(_pending(system), token)
    except OSError as error:
        raise FactError(f"cannot write {error.filename}: {error.strerror}; nothing was changed") from error
    return token


def _write(path: Path, text: str) -> None:
    """Write a file that only its owner can read: a configuration may hold secrets."""
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def _start_timer(system: System, token: str, timer_s: float) -> None:
    words = ["sh", "-c", TAKE_BACK, "coldaisle", f"{timer_s:g}", str(_pending(system)), token]
    quiet = subprocess.DEVNULL
    subprocess.Popen(
        [*words, *system.take_back(token)], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True, cwd="/"
    )


def _wanted(system: System) -> Path:
    return system.FOLDER / "wanted.conf"


def _pending(system: System) -> Path:
    return system.FOLDER / "pending"


def _held(system: System) -> Path:
    return system.FOLDER / "held"


def _sessions(system: System, token: str) -> Path:
    return system.FOLDER / f"sessions-{token}"


def _keep(system: System, token: str, sessions_s: int) -> dict[str, Any]:
    """Keep the configuration on trial where all is as planned and no session was lost; else take it back at once."""
    pending = _pending(system)
    if not pending.is_file() or pending.read_text(encoding="utf-8") != token:
        raise FactError(RAN_OUT)
    wanted = _wanted(system).read_text(encoding="utf-8")
    before = _sessions(system, token).read_text(encoding="utf-8").split("\n")
    stay = {peer for peer in before if peer and system.is_planned(wanted, peer)}
    lost = lost_sessions(stay, system.established, sessions_s)
    wrong = sorted(changes_of(system.sections(system.running_text()), system.sections(wanted)))
    if lost or wrong:
        raise FactError(f"{why_not_kept(lost, wrong)}: {_taken_back(system, token)}")
    if not _claimed(system):
        raise FactError(RAN_OUT)
    system.save()
    _end(system, token)
    os.sync()
    return {"changed": True, "sections": []}
