"""A playbook on one node, whatever its state: what `coldaisle node retire` has done to a machine before it is off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldaisle.cli.playbook import PlaybookError, run_on_host
from coldaisle.life.journal import LifeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldaisle.cli.node_steps import Opened


def run_playbook(known: Opened, name: str, variables: dict[str, Any]) -> list[Mapping[str, Any]]:
    """
    Run a playbook on one node and return what each task said of it.

    Raises:
        LifeError: it did not run, or failed; the message is the task's own.

    """
    node = known.node.name
    try:
        found = run_on_host(known.plan, name, node, variables, touch=True)
    except PlaybookError as error:
        raise LifeError(str(error)) from error
    if found.error:
        raise LifeError(f"playbook {name} on {node}: {found.error}")
    return list(found.results)
