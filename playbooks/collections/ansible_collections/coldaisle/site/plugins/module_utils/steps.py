"""Several steps of a role in one program: a host pays once for starting Python."""

from __future__ import annotations

from ansible_collections.coldaisle.site.plugins.module_utils.host import forget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LISTS = ("paths", "reloaded", "changes")
"""What steps list, beside what changed as text."""


def in_turn(*steps: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """
    Run one step after another until one fails, and return what they say together.

    Lists are joined, mappings are put over each other, and all of them changed something when one did.
    """
    said: dict[str, Any] = {"changed": False, "diff": []}
    for step in steps:
        forget()  # what a step has read may be no longer so after it
        said = _together(said, step())
        if said.get("failed"):
            break
    return said


def _together(said: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Return two results as one; what changed is one pair of texts of facts, and a list of them of files."""
    diff = more.get("diff", [])
    diffs = [it for it in (diff if isinstance(diff, list) else [diff]) if it["before"] or it["after"]]
    joined: dict[str, Any] = {name: said.get(name, []) + more[name] for name in LISTS if name in more}
    if "facts" in more:
        joined["facts"] = {**said.get("facts", {}), **more["facts"]}
    return {**said, **more, **joined, "changed": said["changed"] or more["changed"], "diff": said["diff"] + diffs}
