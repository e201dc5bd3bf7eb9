"""What a role does to a host, in one program: users, the files that may be theirs, and then all facts."""

from __future__ import annotations

from ansible_collections.coldaisle.site.plugins.module_utils import run_files, run_settle
from ansible_collections.coldaisle.site.plugins.module_utils.steps import in_turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    """Settle users, write files, settle facts; what fails ends it, and what was done before is told with it."""
    users = {name: value for name, value in params["facts"].items() if name.startswith("user.")}
    return in_turn(
        lambda: run_settle.run({**params, "facts": users}, check=check),
        lambda: run_files.run(params, check=check),
        lambda: run_settle.run(params, check=check),
    )
