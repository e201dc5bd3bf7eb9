"""
A switch's configuration on trial: applied with a timer that takes it back, and kept over a connection made anew.

A change that cuts the way to the switch is gone by itself after the timer, whatever became of whoever made it.
"""

from __future__ import annotations

import os
import subprocess
import uuid
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils import frr
from ansible_collections.coldaisle.site.plugins.module_utils.frr_sections import sections, without
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.host import run as command
from ansible_collections.coldaisle.site.plugins.module_utils.switch_changes import (
    changes_of,
    diff_of,
    lost_sessions,
    why_not_kept,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = Path("/etc/frr/coldaisle")
BEFORE, WANTED, PENDING = FOLDER / "before.conf", FOLDER / "wanted.conf", FOLDER / "pending"
TAKE_BACK = """
sleep "$1"
[ "$(cat "$2" 2>/dev/null)" = "$3" ] || exit 0
python3 "$4" --reload --stdout "$5" && rm -f "$2"
"""
"""What the timer does: another change, or one that was kept, has another token or none."""


def run(params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    """Try a configuration, or keep the one that is on trial."""
    try:
        return _keep(params["token"], params["sessions_s"]) if params["token"] else _try(params, check=check)
    except FactError as error:
        return {"failed": True, "msg": str(error)}


def _try(params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    before = frr.running_text()
    extra = without(before, set(sections(params["config"]))) if params["keep_extra"] else ""
    wanted = params["config"].replace("\nend\n", f"\n{extra}end\n")
    changes = changes_of(sections(before), sections(wanted))
    result: dict[str, Any] = {
        "changed": bool(changes),
        "token": "",
        "sections": list(changes),
        "diff": diff_of(changes),
    }
    if not changes or check:
        return result
    token = _arm(before, wanted, params["timer_s"])
    try:
        frr.reload_to(WANTED)
    except FactError as error:
        _take_back()
        raise FactError(f"{error}: the old configuration is back") from error
    return {**result, "token": token}


def _take_back() -> None:
    frr.reload_to(BEFORE)
    PENDING.unlink(missing_ok=True)


def _arm(before: str, wanted: str, timer_s: int) -> str:
    """Write down both configurations and the sessions of now, and start the timer; return the trial's token."""
    token = uuid.uuid4().hex
    try:
        FOLDER.mkdir(mode=0o750, exist_ok=True)
        BEFORE.write_text(before, encoding="utf-8")
        WANTED.write_text(wanted, encoding="utf-8")
        _sessions(token).write_text("\n".join(frr.established()), encoding="utf-8")
        PENDING.write_text(token, encoding="utf-8")
    except OSError as error:
        raise FactError(f"cannot write {error.filename}: {error.strerror}; nothing was changed") from error
    words = ["sh", "-c", TAKE_BACK, "coldaisle", str(timer_s), str(PENDING), token, frr.RELOAD, str(BEFORE)]
    quiet = subprocess.DEVNULL
    subprocess.Popen(words, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True, cwd="/")
    return token


def _sessions(token: str) -> Path:
    return FOLDER / f"sessions-{token}"


def _keep(token: str, sessions_s: int) -> dict[str, Any]:
    """Keep the configuration on trial where all is as planned and no session was lost; else take it back at once."""
    if not PENDING.is_file() or PENDING.read_text(encoding="utf-8") != token:
        raise FactError("the trial's time ran out, and the switch has taken its old configuration back")
    wanted = WANTED.read_text(encoding="utf-8")
    before = set(_sessions(token).read_text(encoding="utf-8").split("\n"))
    stay = {peer for peer in before if peer and f" {peer} " in wanted}
    lost = lost_sessions(stay, frr.established, sessions_s)
    wrong = sorted(changes_of(sections(frr.running_text()), sections(wanted)))
    _sessions(token).unlink(missing_ok=True)
    if lost or wrong:
        _take_back()
        raise FactError(f"{why_not_kept(lost, wrong)}: the old configuration is back")
    command("vtysh", "--writeconfig")
    PENDING.unlink(missing_ok=True)
    os.sync()
    return {"changed": True, "sections": []}
