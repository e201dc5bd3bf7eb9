"""One interface to a BMC, whether it speaks Redfish or IPMI, and errors that say what to look at."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

from ansible_collections.coldaisle.site.plugins.module_utils.bmc_habits import Identity
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_quirks import habits_of

Answer = TypeVar("Answer")

POLL_S = 1.0
SETTLE_AFTER_OFF_S = habits_of(Identity()).settle_after_off_s
RESEND_S = habits_of(Identity()).resend_on_s
"""A power command that has changed nothing for so long is sent again: it may have been lost."""

RETRIES = 5
RETRY_S = 3.0
"""How often, and how long after, a BMC is asked again that cannot do it now."""


class BmcError(Exception):
    """What went wrong with a BMC: `kind` names the class, `look` says what to check."""

    def __init__(self, kind: str, text: str, look: str) -> None:
        """Keep the parts; the message joins them."""
        super().__init__(f"{kind}: {text} (look at {look})")
        self.kind = kind


class BusyError(Exception):
    """The BMC cannot do it now and may do it in some seconds; `patience_s` is how long that may take at least."""

    def __init__(self, text: str, patience_s: float = 0.0) -> None:
        """Keep the BMC's words and the patience that they ask for."""
        super().__init__(text)
        self.patience_s = patience_s


@dataclass(frozen=True)
class Access:
    """Where a BMC is and who logs in; `address` may carry a port, and a scheme where it is not https."""

    address: str
    username: str
    password: str
    ca_file: str | None = None
    timeout_s: float = 20.0


class Bmc(Protocol):
    """What bring-up asks of a BMC."""

    def close(self) -> None:
        """End what the login holds on the BMC."""

    def look_again(self) -> None:
        """Take nothing for known that was read over this login: time has passed in which it may have changed."""

    def machine_uuid(self) -> str:
        """Return the UUID of the machine that it belongs to, in lower case."""

    def power(self) -> str:
        """Return `on` or `off`."""

    def set_power(self, state: str) -> None:
        """Ask for `on` or `off`; the state may follow later."""

    def first_boot_device(self) -> str:
        """Return what the machine boots from first: `pxe`, `disk`, or the BMC's own word for something else."""

    def set_first_boot_device(self, device: str) -> None:
        """Ask for `pxe` or `disk`, for this boot and all later ones."""

    def power_limit(self) -> str:
        """Return what the machine is kept under, in watts, or `none` where nothing limits it."""

    def set_power_limit(self, watts: int) -> None:
        """Ask for a limit of so many watts."""

    def power_policy(self) -> str:
        """Return what the machine does when its feed comes back: `always-on`, `always-off`, `last-state`, `unknown`."""

    def set_power_policy(self, policy: str) -> None:
        """Ask for one of the first three."""


def text_of(value: object) -> str:
    """Return a value of JSON or YAML in the form of a fact: true and false in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Setting:
    """What a setting is now, and what it becomes at the next reset (None: the same)."""

    now: str
    then: str | None = None

    @property
    def text(self) -> str:
        """Return both in words."""
        return self.now if self.then in {None, self.now} else f"{self.now}, {self.then} after a reset"


@dataclass
class Inventory:
    """
    Parts by their kind, each with what it is; `gaps` says for each kind that is missing or incomplete why.

    Kinds: `system` (one), `processors`, `gpus`, `memory`, `ports`, `drives`. A part that the BMC lists and does not
    show is a gap, and the others stay.
    """

    parts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    gaps: dict[str, str] = field(default_factory=dict)


@runtime_checkable
class SettingsBmc(Protocol):
    """What a BMC adds that can change more than power and boot device; a setting is named as the plan's fact is."""

    def setting(self, name: str) -> Setting:
        """
        Return a setting.

        Raises:
            BmcError: the BMC has no such setting.

        """

    def change_settings(self, wanted: Mapping[str, str]) -> None:
        """Ask for settings, of one kind each time; some hold at once, others after a reset."""

    def inventory(self) -> Inventory:
        """Return what hardware the BMC shows, and what it does not tell."""


def reach_power(bmc: Bmc, state: str, timeout_s: float) -> None:
    """
    Bring a machine to a power state, and wait until it is really there.

    Raises:
        BmcError: it was not there in time, or the BMC refused too often.

    """
    retried(lambda: bmc.set_power(state))
    sent = time.monotonic()
    deadline = sent + timeout_s
    while retried(bmc.power) != state:
        if time.monotonic() > sent + RESEND_S:
            sent = time.monotonic()
            retried(lambda: bmc.set_power(state))
        if time.monotonic() > deadline:
            raise BmcError(
                "power-not-reached",
                f"the BMC took the command, but power is not {state} after {timeout_s:g} s",
                "the BMC's event log, power feeds, and whether something else holds the power of this node",
            )
        pause(bmc, POLL_S)
    if state == "off":
        pause(bmc, SETTLE_AFTER_OFF_S)


def pause(bmc: Bmc, for_s: float) -> None:
    """Let some time pass, after which the BMC is asked anew."""
    time.sleep(for_s)
    bmc.look_again()


def retried(call: Callable[[], Answer]) -> Answer:
    """
    Return what `call` returns; a busy BMC is asked again a few times, or as long as its words ask for.

    Raises:
        BmcError: it stayed busy.

    """
    started = time.monotonic()
    for attempt in itertools.count(1):
        try:
            return call()
        except BusyError as error:
            if attempt >= RETRIES and time.monotonic() >= started + error.patience_s:
                raise BmcError(
                    "busy", str(error), "whether the machine is in POST, or a BMC task is running"
                ) from error
            time.sleep(RETRY_S)
    raise AssertionError("the loop returns or raises")
