"""How a site answers what its nodes tell of their health: rules, limits, and where tickets go."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from coldaisle.spec.base import SpecModel

Action = Literal["ignore", "watch", "drain", "reset", "reboot", "repair"]
"""
Answers, from the mildest: nothing; a condition; drain the node; drain, then reset the GPU; drain, then a power cycle;
drain, then a ticket. What fails goes on with the next of reset, reboot and ticket.
"""

ACTIONS: tuple[Action, ...] = ("ignore", "watch", "drain", "reset", "reboot", "repair")

EventKind = Literal["xid", "ecc", "nvlink", "thermal", "pcie", "link", "ras", "gpu-lost", "sel", "bmc", "disk", "clock"]
"""
What an event is of: an Xid of NVIDIA's driver, a counter of memory errors, an NVLink, a temperature, PCI Express, a
network port, AMD's RAS, a planned GPU that is not there, an entry of the BMC's event log, a disk, and a host's clock.
"""

Share = Annotated[float, Field(gt=0, le=1)]
Seconds = Annotated[int, Field(ge=1, le=30 * 86400)]


class HealthRule(SpecModel):
    """
    What is done when a part of a node tells of something `at_least` times `within_s` seconds.

    `code` is what docs/health.md lists for the kind, `*` for all that have no rule of their own.
    """

    kind: EventKind
    code: str = "*"
    action: Action
    at_least: Annotated[int, Field(ge=1)] = 1
    within_s: Seconds = 3600


class HealthLimits(SpecModel):
    """
    How far the answers may go on their own. At least one node of a pool or rack may always be out.

    A burst is at least `burst_nodes` nodes, and `burst_share` of those that a part serves, that tell of the same within
    `burst_within_s` seconds: then the part is what is looked at, and the nodes stay.
    """

    max_pool_share: Share = 0.1
    """Of a pool's nodes, as many may be out at once."""
    max_rack_share: Share = 0.25
    """Of a rack's nodes, as many may be out at once."""
    max_node_actions_per_hour: Annotated[int, Field(ge=1)] = 4
    max_hall_actions_per_hour: Annotated[int, Field(ge=1)] = 20
    """Drains, resets and power cycles in a hall."""
    burst_nodes: Annotated[int, Field(ge=2)] = 3
    burst_share: Share = 0.5
    burst_within_s: Seconds = 300
    check_timeout_s: Seconds = 1800
    """How long a node may take to be read again after a reset or a power cycle, until that counts as failed."""
    relapse_s: Seconds = 86400
    """A node that needs an answer again so soon begins where the last one ended, one step further."""


class HealthSpec(SpecModel):
    """The section `health`. All of it may be left out."""

    rules: list[HealthRule] = Field(default_factory=list)
    """Over the defaults of docs/health.md: the first rule that fits an event answers it."""
    limits: HealthLimits = HealthLimits()
    ticket_webhook: Annotated[str, Field(pattern=r"^https?://[^\s/]+/\S*$")] | None = None
    """Where each ticket is posted as JSON; left out, tickets are lines of a file in the site's state folder."""
