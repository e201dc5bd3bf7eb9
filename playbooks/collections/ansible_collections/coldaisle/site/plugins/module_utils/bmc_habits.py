"""The shape of the table of quirks: which BMC it is, what is done with it, and one row that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Identity:
    """Whose BMC it is: a value of `bmc_quirks.VENDORS` or `other`, and what system and manager call themselves."""

    vendor: str = "other"
    model: str = ""
    manager: str = ""
    firmware: str = ""


@dataclass(frozen=True)
class Habits:
    """
    What is done with one BMC. The defaults are for a BMC that nothing is known of.

    `not_hosts` are beginnings of names of systems that are a part of the machine. `busy` and `post` are words of
    answers after which the same is asked again: for some seconds, or until power-on self-test is over. `elsewhere`
    are words after which the other of system and settings resource is tried. `etag_forms` are sent in this order as
    long as a BMC answers that the tag is wrong or missing. `ipmi_suites` and `ipmi_privileges` are tried in this order.
    """

    not_hosts: tuple[str, ...] = ()
    busy: tuple[str, ...] = ()
    post: tuple[str, ...] = ()
    post_patience_s: float = 0.0
    settle_after_off_s: float = 0.0
    resend_on_s: float = 0.0
    override_with_mode: bool = False
    mode_missing: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    etag_forms: tuple[str, ...] = ("original",)
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    mac_words: bool = False
    boot_mode_attributes: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    boot_apply_time: bool = False
    media_devices: str = ""
    media_boot_attributes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    ipmi_suites: tuple[int, ...] = (17, 3)
    ipmi_privileges: tuple[str, ...] = ("administrator", "operator")


@dataclass(frozen=True)
class Quirk:
    """
    One row: what is set in `Habits` for BMCs of a vendor (of all without one), why, and where it was read.

    `report` is the row's name in docs/cases-metal.md where it has one there. Of a mapping, keys are added.
    """

    name: str
    sets: Mapping[str, Any]
    reason: str
    source: str
    vendor: str = ""
    report: str = ""

    def fits(self, identity: Identity) -> bool:
        """Tell whether the row is about this BMC."""
        return self.vendor in {"", identity.vendor}
