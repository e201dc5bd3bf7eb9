"""What both protocols of a BMC act on: the power and the boot settings of one machine."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

from sim.bmc.accounts import Accounts
from sim.bmc.event_log import log_of
from sim.bmc.firmware import Firmware
from sim.fault_records import active_faults, delay_s
from sim.identity_faults import shown_uuid
from sim.machines import Machine
from sim.power import PowerSwitch
from sim.state import State, read_json, write_json

Enabled = Literal["Disabled", "Once", "Continuous"]
"""How long a boot override holds, in Redfish's words."""

POLICIES = ("AlwaysOff", "LastState", "AlwaysOn")
"""What may follow when the feed comes back, in Redfish's words, by the number that IPMI gives it (table 28-8)."""

NETWORK = "Pxe"
DISK = "Hdd"

BIOS: Mapping[str, Any] = {
    "ProcTurboMode": "Enabled",
    "NicBoot1": "NetworkBoot",
    "QuietBoot": False,
    "NumCores": 10,
}
"""BIOS attributes that a machine comes with: some of those in the registry of sushy-tools, one read-only."""


class Board:
    """
    One machine under its BMC.

    The firmware's own order tries the disk only, so a machine boots over the network when the BMC is told so. What the
    BMC was told is kept in a file and outlives the BMC's process.
    """

    def __init__(self, machine: Machine, state: State, switch: PowerSwitch, credentials: Mapping[str, str]) -> None:
        """Take over the machine as it is: on or off, with the settings of before."""
        self.machine = machine
        self._state = state
        self._switch = switch
        self.accounts = Accounts(state.bmcs / f"{machine.name}.accounts.json", credentials)
        self._file: Path = state.bmcs / f"{machine.name}.json"
        self.firmware = Firmware(state.bmcs / f"{machine.name}.firmware.json")
        self.log = log_of(state, machine.name)
        self._lock = threading.RLock()
        self._answers = 0

    # -- who may talk to it, and how it answers -----------------------------------------------------------------
    @property
    def faults(self) -> Mapping[str, Any]:
        """The faults in force now."""
        return active_faults(self._state, self.machine.name)

    @property
    def uuid(self) -> str:
        """The UUID of the machine that the BMC is plugged into."""
        return shown_uuid(self.machine, self.faults)

    def password(self, user: str) -> str | None:
        """Return the password of a user who may log in now, or None."""
        account = self.accounts.may_try(user)
        if account is None:
            return None
        return account.password[::-1] + "x" if "bmc-wrong-password" in self.faults else account.password

    def lets_in(self, user: str, password: str) -> bool:
        """Check a login, and count it."""
        return "bmc-wrong-password" not in self.faults and self.accounts.lets_in(user, password)

    def hangs(self) -> bool:
        """Tell whether the BMC takes requests and never answers."""
        return "bmc-hang" in self.faults

    def next_delay_s(self) -> float:
        """Return how late the next answer comes, in seconds."""
        options = self.faults.get("bmc-slow")
        if options is None:
            return 0.0
        self._answers += 1
        return delay_s(options, self.machine.name, self._answers)

    # -- boot settings ------------------------------------------------------------------------------------------
    @property
    def boot_override(self) -> tuple[str, Enabled]:
        """The device of the boot override (Redfish's word), and how long it holds."""
        record = read_json(self._file)
        return record.get("boot_device", "None"), cast("Enabled", record.get("boot_enabled", "Disabled"))

    def set_boot_override(self, device: str, enabled: Enabled) -> None:
        """Set the boot override; it acts at the next power-on."""
        self._keep(boot_device=device, boot_enabled=enabled)

    def _keep(self, **settings: object) -> None:
        with self._lock:
            write_json(self._file, read_json(self._file) | settings)

    # -- firmware settings --------------------------------------------------------------------------------------
    @property
    def bios(self) -> dict[str, Any]:
        """The firmware's settings in force, by their names."""
        known: dict[str, Any] = read_json(self._file).get("bios", {})
        return {**BIOS, **known}

    @property
    def staged_bios(self) -> dict[str, Any]:
        """The settings that firmware takes over at the next power-on."""
        staged: dict[str, Any] = read_json(self._file).get("staged_bios", {})
        return staged

    def stage_bios(self, wanted: Mapping[str, Any]) -> None:
        """Keep settings for the next power-on."""
        self._keep(staged_bios={**self.staged_bios, **wanted})

    def _apply_bios(self) -> None:
        if self.staged_bios:
            self._keep(bios={**self.bios, **self.staged_bios}, staged_bios={})

    # -- the machine's parts, and what follows when the feed comes back ------------------------------------------
    @property
    def hardware(self) -> dict[str, Any]:
        """The machine's hardware record, with its faults."""
        return read_json(self.machine.path / "hardware/hardware.json")

    @property
    def power_policy(self) -> str:
        """What follows when the feed comes back."""
        policy: str = read_json(self._file).get("power_policy", "LastState")
        return policy

    def set_power_policy(self, policy: str) -> None:
        """Keep what shall follow when the feed comes back."""
        self._keep(power_policy=policy)

    # -- power limit --------------------------------------------------------------------------------------------
    @property
    def power_limit_w(self) -> float | None:
        """The watts that the machine is kept under; None without a limit."""
        watts: float | None = read_json(self._file).get("power_limit_w")
        return watts

    def set_power_limit(self, watts: float | None) -> None:
        """Set the power limit, or take it away."""
        self._keep(power_limit_w=watts)

    # -- power --------------------------------------------------------------------------------------------------
    def is_on(self) -> bool:
        """Tell whether the machine runs."""
        return self._switch.is_on(self.machine)

    def turn_on(self) -> None:
        """Turn the machine on, with what the boot settings say; one that is on stays as it is."""
        with self._lock:
            if self.is_on() or "bmc-no-power" in self.faults:
                return
            self._apply_bios()
            device, enabled = self.boot_override
            network = device == NETWORK and enabled != "Disabled"
            self._switch.turn_on(self.machine, network_boot=network, boot_once=network and enabled == "Once")
            if enabled == "Once":
                self.set_boot_override("None", "Disabled")

    def turn_off(self) -> None:
        """Cut the power."""
        with self._lock:
            self._switch.turn_off(self.machine)

    def shut_down(self) -> None:
        """Press the power button."""
        self._switch.shut_down(self.machine)

    def cycle(self) -> None:
        """Cut the power and turn the machine on again."""
        with self._lock:
            self.turn_off()
            self.turn_on()
