"""Reading facts, on the host."""

from __future__ import annotations

from ansible_collections.coldaisle.site.plugins.module_utils.facts import read_facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(params: dict[str, Any], *, check: bool) -> dict[str, Any]:  # noqa: ARG001  # reading is the same in check mode
    """Return the facts that could be read, and why the others could not."""
    seen, errors = read_facts(params["facts"])
    return {"changed": False, "facts": seen, "errors": errors}
