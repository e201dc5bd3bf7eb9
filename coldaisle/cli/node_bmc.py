"""What `coldaisle node` and `coldaisle drift` ask of a node's BMC: its power, its parts, and to stay off for good."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldaisle.cli.collection import use_collection

use_collection()
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError  # noqa: E402 - needs that path
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import (  # noqa: E402
    logged_in,
    read_bmc,
    read_parts,
)
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_lease import myself, power_of  # noqa: E402
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_settle import settle_bmc  # noqa: E402
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldaisle.plan.model import BmcPlan, NodePlan

OFF_FOR_GOOD: Mapping[str, str] = {"power_policy": "always-off", "boot_order": "disk", "power": "off"}
"""What keeps a machine from coming back by itself: not when its feed returns, and not over the network."""

POWER_TIMEOUT_S = 60.0

__all__ = ["BmcRefusedError", "myself", "parts_of_node", "power_of_node", "turn_off_for_good"]

Parts = dict[str, list[dict[str, Any]]]


class BmcRefusedError(Exception):
    """The BMC did not tell, or did not do it; the message says why and what to look at."""


def power_of_node(node: NodePlan) -> tuple[str, str]:
    """Return what a node's BMC says of its power, and an empty text; or an empty text, and why it does not tell."""
    seen, errors = read_bmc(_params(_bmc(node)), ["power"])
    return str(seen.get("power", "")), errors.get("power", "")


def parts_of_node(node: NodePlan) -> tuple[Parts, dict[str, str]]:
    """
    Return the parts that a node's BMC shows by their kind, and for each kind that is incomplete why.

    Raises:
        BmcRefusedError: the BMC cannot be asked, or its protocol tells no parts.

    """
    try:
        return read_parts(_params(_bmc(node)))
    except (BmcError, FactError) as error:
        raise _told(node, error) from error


def turn_off_for_good(node: NodePlan, why: str) -> dict[str, str]:
    """
    Cut a node's power, and keep the machine from coming back by itself. Return what was read back.

    Raises:
        BmcRefusedError: it is not so: what the BMC says instead is in the message.

    """
    params = _params(_bmc(node))
    try:
        with power_of(params["address"], why), logged_in(params, changes=True) as bmc:
            settle_bmc(bmc, OFF_FOR_GOOD, POWER_TIMEOUT_S, check=False)
        seen, errors = read_bmc(params, OFF_FOR_GOOD)
    except (BmcError, FactError) as error:
        raise _told(node, error) from error
    wrong = [
        f"{name} is {seen.get(name) or errors.get(name)}"
        for name in OFF_FOR_GOOD
        if seen.get(name) != OFF_FOR_GOOD[name]
    ]
    if wrong:
        raise BmcRefusedError(f"BMC of {node.name}: read back after it was set: {', '.join(wrong)}")
    return {name: str(seen[name]) for name in OFF_FOR_GOOD}


def _bmc(node: NodePlan) -> BmcPlan:
    if node.bmc is None:
        raise BmcRefusedError(f"{node.name} has no BMC in the plan (addressing.bmc)")
    return node.bmc


def _params(bmc: BmcPlan) -> dict[str, Any]:
    ca_file = str(Path(bmc.ca_file).expanduser()) if bmc.ca_file else None
    return {
        "address": bmc.address,
        "protocol": bmc.protocol,
        "credentials": bmc.credentials,
        "ca_file": ca_file,
        "timeout_s": 20.0,
    }


def _told(node: NodePlan, error: Exception) -> BmcRefusedError:
    bmc = _bmc(node)
    return BmcRefusedError(f"BMC of {node.name} at {bmc.address} ({bmc.protocol}): {error}")
