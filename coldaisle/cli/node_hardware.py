"""The work of `coldaisle node inspect` and `accept`: a node's parts and cables, as they are seen, against the plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.node_bmc import BmcRefusedError, parts_of_node
from coldaisle.life.hardware import NAMES, Inspection, inspect, seen_of

if TYPE_CHECKING:
    from coldaisle.cli.node_steps import Opened
    from coldaisle.verify import CablingReport

KNOWN = "differences"
"""Key of a step's details: what was found, in words."""
UNKNOWN = "could_not_tell"


def inspected(known: Opened) -> Inspection:
    """Return what a node's BMC shows against the delivery list; a BMC that does not tell leaves everything open."""
    try:
        parts, gaps = parts_of_node(known.node)
    except BmcRefusedError as error:
        return Inspection(known.node.name, 0, (), dict.fromkeys(NAMES, str(error)))
    return inspect(known.spec, known.plan, known.node, seen_of(parts, gaps))


def cabled(known: Opened, seen: Sequence[str]) -> CablingReport | None:
    """Return the cables of a node as files of neighbours tell of them; None without a file."""
    if not seen:
        return None
    from coldaisle.cli.verify import answers_of  # noqa: PLC0415 - only where cables are compared
    from coldaisle.verify import compare, wanted  # noqa: PLC0415

    cables = wanted(known.spec, known.plan)
    return compare(cables, answers_of(cables, seen, None), known.node.name)


def code_of(found: Inspection, cables: CablingReport | None, *, unknown_is_fine: bool) -> ExitCode:
    """Return the exit status: what differs first, then what could not be told."""
    if found.differences or (cables and cables.findings):
        return ExitCode.CHANGED
    unknown = found.could_not_tell or (cables and cables.unknown)
    return ExitCode.COULD_NOT_TELL if unknown and not unknown_is_fine else ExitCode.CLEAN


def remembered(found: Inspection, cables: CablingReport | None) -> dict[str, Any]:
    """Return what the journal keeps of an inspection."""
    said = [one.what for one in found.differences] + [one.what for one in (cables.findings if cables else ())]
    unknown = dict(found.could_not_tell)
    if cables is None:
        unknown["cables"] = "nobody gave files of neighbours (--seen)"
    elif cables.unknown:
        unknown["cables"] = "; ".join(sorted({one.reason for one in cables.unknown}))
    return {"as_planned": found.as_planned, KNOWN: said} | ({UNKNOWN: unknown} if unknown else {})
